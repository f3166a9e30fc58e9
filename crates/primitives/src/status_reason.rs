//! Why requests are refused, in Kubernetes' classification.

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusReason {
    /// The request is malformed.
    BadRequest,
    /// The credentials are missing or invalid.
    Unauthorized,
    /// The user may not do this, or admission rejects it.
    Forbidden,
    /// The object or resource does not exist.
    NotFound,
    /// The resource does not support the verb.
    MethodNotAllowed,
    /// No accepted representation is offered.
    NotAcceptable,
    /// An object of this name exists.
    AlreadyExists,
    /// The object was changed concurrently, or another manager owns the field.
    Conflict,
    /// The requested version is compacted.
    Expired,
    /// The body, or the object in the store, exceeds a limit.
    RequestEntityTooLarge,
    /// The body has a media type that is not supported.
    UnsupportedMediaType,
    /// The object is invalid.
    Invalid,
    /// The server, or a disruption budget, does not allow this now.
    TooManyRequests,
    /// The server fails.
    InternalError,
    /// The server fails; Kubernetes does not classify the error.
    Unclassified,
    /// The server does not implement the request.
    NotImplemented,
    /// Another component does not respond.
    ServiceUnavailable,
    /// The request takes too long.
    Timeout,
}

impl StatusReason {
    /// The HTTP code of the response.
    pub const fn code(self) -> u16 {
        match self {
            Self::BadRequest => 400,
            Self::Unauthorized => 401,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::NotAcceptable => 406,
            Self::AlreadyExists | Self::Conflict => 409,
            Self::Expired => 410,
            Self::RequestEntityTooLarge => 413,
            Self::UnsupportedMediaType => 415,
            Self::Invalid => 422,
            Self::TooManyRequests => 429,
            Self::InternalError | Self::Unclassified => 500,
            Self::NotImplemented => 501,
            Self::ServiceUnavailable => 503,
            Self::Timeout => 504,
        }
    }

    /// The `reason` of the `Status`; empty where Kubernetes has none.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BadRequest => "BadRequest",
            Self::Unauthorized => "Unauthorized",
            Self::Forbidden => "Forbidden",
            Self::NotFound => "NotFound",
            Self::MethodNotAllowed => "MethodNotAllowed",
            Self::NotAcceptable => "NotAcceptable",
            Self::AlreadyExists => "AlreadyExists",
            Self::Conflict => "Conflict",
            Self::Expired => "Expired",
            Self::RequestEntityTooLarge => "RequestEntityTooLarge",
            Self::UnsupportedMediaType => "UnsupportedMediaType",
            Self::Invalid => "Invalid",
            Self::TooManyRequests => "TooManyRequests",
            Self::InternalError => "InternalError",
            Self::Unclassified | Self::NotImplemented => "",
            Self::ServiceUnavailable => "ServiceUnavailable",
            Self::Timeout => "Timeout",
        }
    }
}
