//! All informers of a process, one per resource, shared by all users.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;

use tokio::task::JoinSet;

use super::{Informer, Typed};
use crate::api::Api;
use crate::shutdown::Shutdown;

type Start = Box<dyn FnOnce(&mut JoinSet<()>, &Api, &Shutdown) + Send>;

/// The informers that controllers share.
///
/// [`of`](Self::of) returns the informer of a resource while the process is assembled; [`start`](Self::start) then
/// opens one watch for each.
#[derive(Default)]
pub struct Informers {
    by_type: HashMap<(TypeId, Option<&'static str>), Box<dyn Any + Send>>,
    starts: Vec<Start>,
}

impl Informers {
    /// Without any informers.
    pub fn new() -> Self {
        Self::default()
    }

    /// The shared informer of this type.
    pub fn of<T: Typed>(&mut self) -> Informer<T> {
        self.selecting(None)
    }

    /// The informer of those objects of this type that a field selector selects.
    pub fn selecting<T: Typed>(&mut self, fields: Option<&'static str>) -> Informer<T> {
        let key = (TypeId::of::<T>(), fields);
        let known = self.by_type.get(&key).and_then(|any| any.downcast_ref::<Informer<T>>());
        if let Some(informer) = known {
            return informer.clone();
        }
        let informer = Informer::<T>::selecting(T::resource(), fields);
        self.by_type.insert(key, Box::new(informer.clone()));
        let running = informer.clone();
        self.starts.push(Box::new(move |tasks, api, shutdown| {
            let (api, shutdown) = (api.clone(), shutdown.clone());
            tasks.spawn(async move { running.run(api, shutdown).await });
        }));
        informer
    }

    /// Starts all of them; the tasks end at shutdown.
    pub fn start(self, tasks: &mut JoinSet<()>, api: &Api, shutdown: &Shutdown) {
        for start in self.starts {
            start(tasks, api, shutdown);
        }
    }
}

impl fmt::Debug for Informers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Informers").field("informers", &self.by_type.len()).finish_non_exhaustive()
    }
}
