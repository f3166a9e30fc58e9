//! Errors of requests, by cause. The reason and message that are sent are made of them in [`ApiError::refusal`] only.

use std::fmt;

use gantry_primitives::{Cause, Details, FieldError, Refusal, StatusReason};

use crate::handlers::BODY_BYTES_MAX;
use crate::objects::ObjectRef;

/// Why a request fails.
#[derive(Clone, Debug)]
pub(crate) enum ApiError {
    /// The request is malformed.
    BadRequest(String),
    /// The credentials are missing or invalid.
    Unauthorized,
    /// Admission rejects the object.
    Forbidden { object: ObjectName, why: String },
    /// The namespace of a new object is being deleted.
    NamespaceTerminating { object: ObjectName, namespace: String },
    /// The object does not exist.
    NotFound(ObjectName),
    /// The resource or subresource is not served.
    ResourceNotFound,
    /// The resource does not support the method.
    MethodNotAllowed,
    /// The custom resource does not support the verb.
    VerbNotSupported { verb: &'static str, resource: ObjectName },
    /// No accepted representation is offered; whether any accepted media type is known, and whether tables are offered.
    NotAcceptable { known: bool, tables: bool },
    /// An object of this name exists.
    AlreadyExists(ExistingObject),
    /// Objects of all generated names exist.
    NoUniqueName(ExistingObject),
    /// The object was changed concurrently, or a precondition does not hold.
    Conflict { object: ObjectName, why: String },
    /// The body exceeds the size limit.
    BodyTooLarge,
    /// The content type is not a patch type.
    UnknownPatchType,
    /// There is no memory for the request or its response now.
    TooManyRequests,
    /// The request took longer than its timeout.
    Timeout,
    /// A handler panicked.
    Panic,
    /// The server cannot serve the valid request.
    Internal(String),
    /// A server error without a reason, as Kubernetes returns for some bad requests.
    Unclassified(String),
    /// The server does not implement the request.
    NotImplemented(String),
    /// Another component does not respond.
    Unavailable(String),
    /// The store failed.
    Store(gantry_store::Error),
    /// The registry rejects the request.
    Registry(Refusal),
}

/// The name and resource of an object, for error messages.
#[derive(Clone, Debug)]
pub(crate) struct ObjectName {
    pub(crate) group: &'static str,
    /// The plural resource, or the kind where Kubernetes prints that.
    pub(crate) resource: &'static str,
    pub(crate) name: String,
}

/// An object that exists already.
#[derive(Clone, Debug)]
pub(crate) struct ExistingObject {
    pub(crate) object: ObjectName,
    pub(crate) is_deleting: bool,
}

impl ApiError {
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::BadRequest(message.into())
    }

    pub(crate) fn unclassified(message: impl Into<String>) -> Self {
        Self::Unclassified(message.into())
    }

    pub(crate) fn not_found(object: ObjectRef<'_>) -> Self {
        Self::NotFound(object.into())
    }

    pub(crate) fn forbidden(object: ObjectRef<'_>, why: impl Into<String>) -> Self {
        Self::Forbidden { object: object.into(), why: why.into() }
    }

    pub(crate) fn conflict(object: impl Into<ObjectName>, why: impl Into<String>) -> Self {
        Self::Conflict { object: object.into(), why: why.into() }
    }

    /// The object was changed concurrently.
    pub(crate) fn modified(object: ObjectRef<'_>) -> Self {
        let why =
            "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(object, why)
    }

    /// The fields are invalid.
    pub(crate) fn invalid(kind: &str, group: &str, name: &str, errors: &[FieldError]) -> Self {
        Refusal::invalid(kind, group, name, errors).into()
    }

    /// The error as it is sent.
    pub(crate) fn refusal(&self) -> Refusal {
        let empty = || Some(Box::default());
        let (reason, message, details) = match self {
            Self::Registry(refusal) => return refusal.clone(),
            Self::BadRequest(message) => (StatusReason::BadRequest, message.clone(), None),
            Self::Unauthorized => (StatusReason::Unauthorized, "Unauthorized".to_owned(), None),
            Self::Forbidden { object, why } => {
                (StatusReason::Forbidden, object.is_forbidden(why), Some(object.details()))
            }
            Self::NamespaceTerminating { object, namespace } => {
                let why = format!(
                    "unable to create new content in namespace {namespace} because it is being terminated"
                );
                let cause = Cause {
                    reason: "NamespaceTerminating",
                    message: format!("namespace {namespace} is being terminated"),
                    field: "metadata.namespace".to_owned(),
                };
                let details = Details { causes: vec![cause], ..*object.details() };
                (StatusReason::Forbidden, object.is_forbidden(&why), Some(Box::new(details)))
            }
            Self::NotFound(object) => {
                (StatusReason::NotFound, format!("{object} not found"), Some(object.details()))
            }
            Self::ResourceNotFound => (
                StatusReason::NotFound,
                "the server could not find the requested resource".to_owned(),
                empty(),
            ),
            Self::MethodNotAllowed => {
                let message = "the server does not allow this method on the requested resource";
                (StatusReason::MethodNotAllowed, message.to_owned(), empty())
            }
            Self::VerbNotSupported { verb, resource } => {
                let message =
                    format!("{verb} is not supported on resources of kind \"{}\"", resource.group_resource());
                (StatusReason::MethodNotAllowed, message, Some(resource.details()))
            }
            Self::NotAcceptable { known: true, tables } => {
                let protobuf = if *tables { "" } else { ", application/vnd.kubernetes.protobuf" };
                let types = "only the following media types are accepted: application/json, application/yaml";
                (StatusReason::NotAcceptable, format!("{types}{protobuf}"), None)
            }
            Self::NotAcceptable { known: false, .. } => {
                let types = "406: Not Acceptable\n\nAvailable representations: application/json, \
                             application/yaml, application/vnd.kubernetes.protobuf";
                (StatusReason::NotAcceptable, types.to_owned(), empty())
            }
            Self::AlreadyExists(existing) => {
                (StatusReason::AlreadyExists, existing.to_string(), Some(existing.object.details()))
            }
            Self::NoUniqueName(existing) => {
                let message =
                    format!("{existing}, the server was not able to generate a unique name for the object");
                let details = Details { retry_after_seconds: 1, ..*existing.object.details() };
                (StatusReason::AlreadyExists, message, Some(Box::new(details)))
            }
            Self::Conflict { object, why } => {
                let message = format!("Operation cannot be fulfilled on {object}: {why}");
                (StatusReason::Conflict, message, Some(object.details()))
            }
            Self::BodyTooLarge => {
                let message = format!("Request entity too large: limit is {BODY_BYTES_MAX}");
                (StatusReason::RequestEntityTooLarge, message, None)
            }
            Self::UnknownPatchType => {
                (StatusReason::UnsupportedMediaType, "415: Unsupported Media Type".to_owned(), empty())
            }
            Self::TooManyRequests => {
                let message = "the server has received too many requests and has asked us to try again later";
                let details = Details { retry_after_seconds: 1, ..Details::default() };
                (StatusReason::TooManyRequests, message.to_owned(), Some(Box::new(details)))
            }
            Self::Panic => {
                let why = "this request caused a panic of the server, which is in its log";
                (StatusReason::InternalError, format!("Internal error occurred: {why}"), None)
            }
            Self::Store(gantry_store::Error::TooLarge { bytes_max }) => {
                let message = format!(
                    "Request entity too large: the object as it is stored has more than {bytes_max} bytes"
                );
                (StatusReason::RequestEntityTooLarge, message, None)
            }
            Self::Internal(why) => return Refusal::internal(why.clone()),
            Self::Store(error) => return Refusal::internal(error.to_string()),
            Self::Unclassified(message) => (StatusReason::Unclassified, message.clone(), None),
            Self::NotImplemented(message) => (StatusReason::NotImplemented, message.clone(), None),
            Self::Unavailable(message) => (StatusReason::ServiceUnavailable, message.clone(), None),
            Self::Timeout => {
                let message = "Timeout: request did not complete within the allotted timeout";
                (StatusReason::Timeout, message.to_owned(), empty())
            }
        };
        Refusal { reason, message, details }
    }
}

impl ObjectName {
    fn group_resource(&self) -> String {
        match self.group {
            "" => self.resource.to_owned(),
            group => format!("{}.{group}", self.resource),
        }
    }

    fn is_forbidden(&self, why: &str) -> String {
        match self.name.as_str() {
            "" => format!("{} is forbidden: {why}", self.group_resource()),
            _ => format!("{self} is forbidden: {why}"),
        }
    }

    fn details(&self) -> Box<Details> {
        Box::new(Details {
            name: self.name.clone(),
            group: self.group.to_owned(),
            kind: self.resource.to_owned(),
            ..Details::default()
        })
    }
}

impl From<ObjectRef<'_>> for ObjectName {
    fn from(object: ObjectRef<'_>) -> Self {
        let ObjectRef { kind, name, .. } = object;
        Self { group: kind.group, resource: kind.resource, name: name.to_owned() }
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        Self::Registry(refusal)
    }
}

impl From<gantry_store::Error> for ApiError {
    fn from(error: gantry_store::Error) -> Self {
        Self::Store(error)
    }
}

impl From<ApiError> for Refusal {
    fn from(error: ApiError) -> Self {
        error.refusal()
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} \"{}\"", self.group_resource(), self.name)
    }
}

impl fmt::Display for ExistingObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = if self.is_deleting { "object is being deleted: " } else { "" };
        write!(f, "{prefix}{} already exists", self.object)
    }
}
