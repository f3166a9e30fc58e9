//! Properties over random worlds live with the simulator; here are those of a single decision.
