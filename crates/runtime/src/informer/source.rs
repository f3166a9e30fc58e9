//! One watch of a resource, decoded once, for all informers that hold its objects.
//!
//! ```text
//! server ──lines──► Source ──objects──► Informer<Pod>           (controllers)
//!                                    ├─► Informer<CachedPod>     (scheduler)
//!                                    └─► Informer<MetadataOnly>  (garbage collector)
//! ```
//!
//! Protobuf is requested if all informers of a source can read it; each then decodes the fields that it needs. Of JSON,
//! too, only the fields that they need are decoded, unless one of them needs whole objects.
//!
//! A source keeps no objects except those of a list that has not ended. An informer that is attached while the source
//! follows changes makes it list again; the others have these objects already and notify nothing.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use bytes::Bytes;
use gantry_client::{ApiResponse, RequestError};
use gantry_decide::gc::Resource;
use gantry_formats::protobuf::{fields, find};
use gantry_json::Value;
use gantry_model::{ObjectKey, ParseError, ResourceVersion, protobuf};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ListMeta;
use tokio::sync::Notify;

use super::cached::Cached;
use super::lines::Line;
use super::scope::InformerScope;
use super::trimming::without_managed_fields;
use super::wire_object::WireObject;
use super::{Informer, Shared, set_error};
use crate::request::{Encoding, Form};
use crate::wire::{AnyWire, ObjectList, Wire};

pub(super) type Parse<T> = fn(&Informer<T>, &WireObject) -> Result<T, ParseError>;

pub(super) struct Source {
    watched: Watched,
    decoder: Decoder,
    views: Mutex<Views>,
    /// The objects of the list that is being read.
    listed: Mutex<Vec<WireObject>>,
}

/// The metadata and the objects of a list.
type DecodedList = (ListMeta, Vec<Arc<dyn AnyWire>>);

/// How the objects of one wire type are decoded.
#[derive(Clone, Copy)]
pub(super) struct Decoder {
    pub(super) object: fn(&[u8]) -> gantry_json::Result<Arc<dyn AnyWire>>,
    /// Decodes the needed fields of an object; the others are left empty.
    observed: fn(&[u8]) -> gantry_json::Result<Arc<dyn AnyWire>>,
    list: fn(&[u8]) -> gantry_json::Result<DecodedList>,
    keeps_managed_fields: bool,
}

/// The resource and the objects that a source requests.
pub(super) struct Watched {
    pub(super) resource: Resource,
    pub(super) scope: InformerScope,
    pub(super) form: Form,
    /// Wakes the task of the source to list again.
    pub(super) relist: Notify,
}

struct Views {
    all: Vec<Box<dyn View>>,
    /// Whether the list was passed to all views, so that only changes follow.
    is_following: bool,
    /// The encoding that the last request preferred.
    encoding: Encoding,
    /// How much of the objects of the last request is decoded.
    extent: Extent,
}

/// How much of an object is decoded from JSON.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// All of it, except managed fields.
    Whole,
    /// The fields for informers that do not need whole objects.
    Observed,
}

/// The meaning of a line of a watch for the protocol.
pub(super) enum Received {
    /// Everything up to this version was passed to the informers.
    Reached(ResourceVersion),
    /// An object of the list.
    Listed,
    /// The list is complete.
    EndOfList(ResourceVersion),
    /// The watch has ended with an error.
    Failed(RequestError),
}

/// An informer from the view of its source.
trait View: Send + Sync {
    fn is_alive(&self) -> bool;
    fn reads_protobuf(&self) -> bool;
    fn needs_whole(&self) -> bool;
    fn apply(&self, object: &WireObject);
    fn remove(&self, last: &WireObject);
    fn replace(&self, all: &[WireObject], version: &ResourceVersion);
    fn advance_to(&self, version: &ResourceVersion);
    fn set_error(&self, error: Option<&RequestError>);
    fn unsubscribe_all(&self);
}

struct ParsedView<T> {
    informer: Weak<Shared<T>>,
    parse: Parse<T>,
}

impl Decoder {
    /// Decodes objects without their managed fields.
    pub(super) fn of<W: Wire + Sync>() -> Self {
        Self {
            object: |json| Ok(Arc::new(W::decode(&without_managed_fields(json))?)),
            observed: |json| Ok(Arc::new(W::decode_observed(json)?)),
            list: |json| {
                let page = W::decode_list(json)?;
                let trimmed = |mut object: W| {
                    object.meta_mut().managed_fields = None;
                    Arc::new(object) as Arc<dyn AnyWire>
                };
                Ok((page.metadata, page.items.into_iter().map(trimmed).collect()))
            },
            keeps_managed_fields: false,
        }
    }

    /// Decodes whole objects.
    pub(super) fn with_managed_fields<W: Wire + Sync>() -> Self {
        Self {
            object: |json| Ok(Arc::new(W::decode(json)?)),
            observed: |json| Ok(Arc::new(W::decode(json)?)),
            list: |json| {
                let page = W::decode_list(json)?;
                Ok((page.metadata, page.items.into_iter().map(|object| Arc::new(object) as _).collect()))
            },
            keeps_managed_fields: true,
        }
    }
}

/// Parses an object of a source of this type.
pub(super) fn parse<T: Cached>(informer: &Informer<T>, object: &WireObject) -> Result<T, ParseError> {
    let previous = |key: &ObjectKey| informer.read().get(key).cloned();
    match object {
        WireObject::Decoded(object) => {
            let object: Arc<dyn Any + Send + Sync> = object.clone();
            let wire = object.downcast::<T::Wire>().expect("a source decodes the wire type of its informers");
            T::parse_next(informer.resource(), &wire, &previous)
        }
        WireObject::Protobuf(message) => T::parse_protobuf(informer.resource(), message, &previous),
    }
}

impl Source {
    pub(super) fn new(resource: Resource, scope: InformerScope, form: Form, decoder: Decoder) -> Self {
        let views =
            Views { all: Vec::new(), is_following: false, encoding: Encoding::Json, extent: Extent::Whole };
        let views = Mutex::new(views);
        let watched = Watched { resource, scope, form, relist: Notify::new() };
        Self { watched, decoder, views, listed: Mutex::default() }
    }

    /// Feeds an informer from now on, as long as the informer exists.
    pub(super) fn attach<T: Cached>(&self, informer: &Informer<T>, parse: Parse<T>) {
        self.attach_view(Box::new(ParsedView { informer: Arc::downgrade(&informer.shared), parse }));
    }

    fn attach_view(&self, view: Box<dyn View>) {
        let mut views = self.views();
        views.all.retain(|view| view.is_alive());
        let is_readable = (view.reads_protobuf() || views.encoding == Encoding::Json)
            && (!view.needs_whole() || views.extent == Extent::Whole);
        views.all.push(view);
        if views.is_following || !is_readable {
            self.watched.relist.notify_one();
        }
    }

    fn views(&self) -> MutexGuard<'_, Views> {
        self.views.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listed(&self) -> MutexGuard<'_, Vec<WireObject>> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn watched(&self) -> &Watched {
        &self.watched
    }

    /// Drops the objects of a list that was interrupted.
    pub(super) fn begin_list(&self) {
        self.views().is_following = false;
        self.listed().clear();
    }

    /// The encoding to request next: one that all informers can read.
    pub(super) fn next_encoding(&self) -> Encoding {
        let mut views = self.views();
        let reads_protobuf =
            !self.decoder.keeps_managed_fields && views.all.iter().all(|view| view.reads_protobuf());
        views.encoding = if reads_protobuf { Encoding::PreferProtobuf } else { Encoding::Json };
        let needs_whole = views.all.iter().any(|view| view.needs_whole());
        views.extent = if needs_whole { Extent::Whole } else { Extent::Observed };
        views.encoding
    }

    /// Adds the object in a line or frame of a streamed list.
    pub(super) fn receive_listed(&self, line: &Bytes, is_protobuf: bool) -> Received {
        match self.parse_line(line, is_protobuf) {
            Line::Applied(object) => self.listed().push(object),
            Line::EndOfList(version) => return Received::EndOfList(version),
            Line::Unreadable(_, why) => warn_unreadable(&self.watched.resource, &why),
            Line::Failed(failure) => return Received::Failed(failure),
            Line::Deleted(_) | Line::Bookmark(_) => {}
        }
        Received::Listed
    }

    fn parse_line(&self, line: &Bytes, is_protobuf: bool) -> Line {
        if is_protobuf {
            return Line::parse_protobuf(line);
        }
        let extent = self.views().extent;
        Line::parse(line, if extent == Extent::Whole { self.decoder.object } else { self.decoder.observed })
    }

    /// Adds the objects of a page; returns its metadata.
    pub(super) fn receive_page(&self, page: &ApiResponse) -> Result<ListMeta, RequestError> {
        let unreadable = |error: &dyn fmt::Display| RequestError::unreadable(page.code, error);
        if page.is_protobuf {
            return self.receive_protobuf_page(&page.body).map_err(|error| unreadable(&error));
        }
        self.receive_json_page(&page.body).map_err(|error| unreadable(&error))
    }

    fn receive_protobuf_page(&self, body: &Bytes) -> Result<ListMeta, ParseError> {
        let mut metadata = ListMeta::default();
        for field in fields(protobuf::open(body)?) {
            let field = field?;
            match field.number {
                1 => {
                    let version = find(field.value.bytes(), 2)?.text();
                    let continue_ = Some(find(field.value.bytes(), 3)?.text());
                    metadata = ListMeta { resource_version: Some(version), continue_, ..metadata };
                }
                2 => self.listed().push(WireObject::Protobuf(body.slice_ref(field.value.bytes()))),
                _ => {}
            }
        }
        Ok(metadata)
    }

    fn receive_json_page(&self, json: &[u8]) -> gantry_json::Result<ListMeta> {
        if let Ok((metadata, objects)) = (self.decoder.list)(json) {
            self.listed().extend(objects.into_iter().map(WireObject::Decoded));
            return Ok(metadata);
        }
        // One object that cannot be decoded does not hide the others.
        let page: ObjectList<Value> = gantry_json::from_slice(json)?;
        for item in page.items {
            match (self.decoder.object)(item.to_string().as_bytes()) {
                Ok(object) => self.listed().push(WireObject::Decoded(object)),
                Err(error) => warn_unreadable(&self.watched.resource, &error.to_string()),
            }
        }
        Ok(page.metadata)
    }

    /// Passes the complete list to all informers.
    pub(super) fn end_list(&self, version: &ResourceVersion) {
        let all = std::mem::take(&mut *self.listed());
        let mut views = self.views();
        // A view that was attached meanwhile and needs more than was decoded gets the next list.
        for view in &views.all {
            if views.extent == Extent::Whole || !view.needs_whole() {
                view.replace(&all, version);
            }
        }
        views.is_following = true;
    }

    /// Passes the change in a line to all informers.
    pub(super) fn receive_change(&self, line: &Bytes, is_protobuf: bool) -> Received {
        let change = self.parse_line(line, is_protobuf);
        let views = self.views();
        Received::Reached(match change {
            Line::Applied(object) => {
                views.all.iter().for_each(|view| view.apply(&object));
                object.version()
            }
            Line::Deleted(object) => {
                views.all.iter().for_each(|view| view.remove(&object));
                object.version()
            }
            Line::Bookmark(version) | Line::EndOfList(version) => {
                views.all.iter().for_each(|view| view.advance_to(&version));
                version
            }
            Line::Unreadable(version, why) => {
                warn_unreadable(&self.watched.resource, &why);
                version
            }
            Line::Failed(failure) => return Received::Failed(failure),
        })
    }

    /// Drops the subscribers of all informers.
    pub(super) fn unsubscribe_all(&self) {
        self.views().all.iter().for_each(|view| view.unsubscribe_all());
    }

    /// Sets the error of a failed request, or clears it when a request has begun.
    pub(super) fn set_error(&self, error: Option<&RequestError>) {
        self.views().all.iter().for_each(|view| view.set_error(error));
    }
}

impl<T: Cached> ParsedView<T> {
    /// The informer, once it has the list.
    fn synced(&self) -> Option<Informer<T>> {
        self.informer().filter(Informer::is_synced)
    }

    fn informer(&self) -> Option<Informer<T>> {
        self.informer.upgrade().map(|shared| Informer { shared })
    }

    /// The parsed object. One that cannot be parsed does not hide the others.
    fn parse(&self, informer: &Informer<T>, object: &WireObject) -> Option<T> {
        match (self.parse)(informer, object) {
            Ok(object) => Some(object),
            Err(error) => {
                warn_unreadable(informer.resource(), &format!("{}: {error}", object.describe()));
                None
            }
        }
    }
}

impl<T: Cached> View for ParsedView<T> {
    fn is_alive(&self) -> bool {
        self.informer.strong_count() > 0
    }

    fn reads_protobuf(&self) -> bool {
        T::READS_PROTOBUF
    }

    fn needs_whole(&self) -> bool {
        T::NEEDS_WHOLE
    }

    fn apply(&self, object: &WireObject) {
        let Some(informer) = self.synced() else { return };
        match self.parse(&informer, object) {
            Some(parsed) => informer.apply(parsed),
            None => informer.advance_to(object.version()),
        }
    }

    fn remove(&self, last: &WireObject) {
        let Some(informer) = self.synced() else { return };
        match self.parse(&informer, last) {
            Some(parsed) => informer.remove(parsed),
            None => informer.advance_to(last.version()),
        }
    }

    fn replace(&self, all: &[WireObject], version: &ResourceVersion) {
        let Some(informer) = self.informer() else { return };
        let parsed = all.iter().filter_map(|object| self.parse(&informer, object)).collect();
        informer.replace(parsed, version.clone());
    }

    fn advance_to(&self, version: &ResourceVersion) {
        if let Some(informer) = self.synced() {
            informer.advance_to(version.clone());
        }
    }

    fn set_error(&self, error: Option<&RequestError>) {
        let Some(informer) = self.informer() else { return };
        set_error(&informer.shared.error, error);
    }

    fn unsubscribe_all(&self) {
        if let Some(informer) = self.informer() {
            informer.unsubscribe_all();
        }
    }
}

fn warn_unreadable(resource: &Resource, why: &str) {
    let resource = &resource.plural;
    tracing::warn!(resource, why, "an object cannot be read and is treated as absent");
}
