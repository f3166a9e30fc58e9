//! Reads the profile of `--sim-profile`.

use std::path::Path;

use gantry_cluster::Profile;

/// Reads a profile; the built-in one without a file.
pub(crate) fn read(file: Option<&Path>) -> Result<Profile, String> {
    let Some(file) = file else { return Ok(Profile::built_in()) };
    let name = file.display();
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("--sim-profile: cannot read {name}: {error}"))?;
    Profile::read(&text).map_err(|error| format!("--sim-profile: {name}: {error}"))
}
