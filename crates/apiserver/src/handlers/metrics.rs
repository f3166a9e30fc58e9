//! `/metrics`: all metrics in Prometheus' text format.

use std::collections::BTreeMap;

use gantry_store::ListRequest;

use crate::ApiServer;
use crate::objects::Objects;
use crate::response::ApiResponse;

/// Renders all metrics.
pub(super) async fn respond(server: &ApiServer) -> ApiResponse {
    let mut counts = BTreeMap::new();
    let catalogue = server.catalogue().await;
    for kind in catalogue.kinds.all().filter(|kind| kind.allows(gantry_schema::kinds::Verb::List)) {
        let request = ListRequest::all(Objects::prefix(kind, None)).limit(1);
        // While the store fails, its resources are omitted.
        if let Ok(page) = server.objects.store.list(request).await {
            counts.insert(kind.group_resource(), page.remaining + page.items.len() as u64);
        }
    }
    let bytes = server.metrics.drop_unserved(&server.objects.catalogues);
    let render = || server.metrics.render(&counts) + &server.flow_control.render_metrics();
    let (text, slot) = server.heavy_work.run_keeping_slot(bytes, render).await;
    ApiResponse::text(200, text).of_type("text/plain; version=0.0.4; charset=utf-8").with_slot(slot)
}
