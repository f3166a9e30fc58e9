//! An API server with faults: some requests are not carried out, the responses of others are lost.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use gantry_apiserver::{ApiService, Body};
use gantry_rng::Rng;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use tower_service::Service;

/// The API with faults.
#[derive(Clone)]
pub(crate) struct Faulty {
    service: ApiService,
    faults: Faults,
}

/// The rate of faults: one request in `one_in`, or none if it is 0.
#[derive(Clone, Default)]
pub(crate) struct Faults {
    one_in: Arc<AtomicU64>,
    requests: Arc<AtomicU64>,
    is_down: Arc<AtomicBool>,
}

enum Fault {
    None,
    NotExecuted,
    ResponseLost,
}

impl Faulty {
    pub(crate) fn new(service: ApiService, faults: Faults) -> Self {
        Self { service, faults }
    }
}

impl Faults {
    /// Sets the rate of faults.
    pub(crate) fn set(&self, one_in: u64) {
        self.one_in.store(one_in, Ordering::Relaxed);
    }

    /// Sets whether no request is carried out.
    pub(crate) fn set_down(&self, is_down: bool) {
        self.is_down.store(is_down, Ordering::Relaxed);
    }

    fn next(&self) -> Fault {
        if self.is_down.load(Ordering::Relaxed) {
            return Fault::NotExecuted;
        }
        let nth = self.requests.fetch_add(1, Ordering::Relaxed);
        let number = Rng::new(nth).number();
        match self.one_in.load(Ordering::Relaxed) {
            one_in @ 1.. if number.is_multiple_of(one_in) && (number >> 32).is_multiple_of(2) => {
                Fault::NotExecuted
            }
            one_in @ 1.. if number.is_multiple_of(one_in) => Fault::ResponseLost,
            _ => Fault::None,
        }
    }
}

impl Service<Request<Full<Bytes>>> for Faulty {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let (fault, response) = (self.faults.next(), self.service.call(request));
        Box::pin(async move {
            match fault {
                Fault::None => response.await,
                Fault::NotExecuted => Ok(broken()),
                Fault::ResponseLost => response.await.map(|_| broken()),
            }
        })
    }
}

fn broken() -> Response<Body> {
    let mut response = Response::new(Body::Whole(None));
    *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    response
}
