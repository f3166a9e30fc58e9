//! An API server that fails now and then: sometimes it does nothing, sometimes its answer is lost.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use gantry_apiserver::{ApiService, Body};
use http::{Request, Response, StatusCode};
use tower_service::Service;

/// The API with faults.
#[derive(Clone)]
pub(crate) struct Faulty {
    service: ApiService,
    faults: Faults,
}

/// One request in so many fails; none if that is zero.
#[derive(Clone, Default)]
pub(crate) struct Faults {
    one_in: Arc<AtomicU64>,
    requests: Arc<AtomicU64>,
}

enum Fault {
    None,
    NotDone,
    AnswerLost,
}

impl Faulty {
    pub(crate) fn new(service: ApiService, faults: Faults) -> Self {
        Self { service, faults }
    }
}

impl Faults {
    /// From now on one request in so many fails.
    pub(crate) fn set(&self, one_in: u64) {
        self.one_in.store(one_in, Ordering::Relaxed);
    }

    fn next(&self) -> Fault {
        let nth = self.requests.fetch_add(1, Ordering::Relaxed);
        // splitmix64: the same run has the same faults.
        let mut mixed = nth.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        match self.one_in.load(Ordering::Relaxed) {
            one_in @ 1.. if mixed.is_multiple_of(one_in) && (mixed >> 32).is_multiple_of(2) => Fault::NotDone,
            one_in @ 1.. if mixed.is_multiple_of(one_in) => Fault::AnswerLost,
            _ => Fault::None,
        }
    }
}

impl Service<Request<kube::client::Body>> for Faulty {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<kube::client::Body>) -> Self::Future {
        let (fault, answer) = (self.faults.next(), self.service.call(request));
        Box::pin(async move {
            match fault {
                Fault::None => answer.await,
                Fault::NotDone => Ok(broken()),
                Fault::AnswerLost => answer.await.map(|_| broken()),
            }
        })
    }
}

fn broken() -> Response<Body> {
    let mut response = Response::new(Body::Whole(None));
    *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    response
}
