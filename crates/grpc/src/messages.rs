//! Protobuf messages written as in a `.proto` file, for clients that build without `protoc`.

/// Declares messages as structs, one line per field:
///
/// ```
/// gantry_grpc::messages! {
///     /// A container to create.
///     pub ContainerConfig {
///         string image = 2;
///         message Metadata metadata = 1;
///         repeated string command = 3;
///         map labels = 9;
///     }
///     pub Metadata { string name = 1; }
/// }
/// # fn main() {
/// let config = ContainerConfig { image: "nginx".into(), ..ContainerConfig::default() };
/// assert_eq!(prost::Message::encode_to_vec(&config), b"\x12\x05nginx");
/// # }
/// ```
///
/// A `message` is an `Option`, an `enum` is an `i32` as in `prost`, a `map` has strings as keys and values, `bytes` are `Bytes`.
#[macro_export]
macro_rules! messages {
    ($($(#[$attr:meta])* $vis:vis $name:ident { $($fields:tt)* })*) => {
        $($crate::message! { [$(#[$attr])* $vis struct $name] [$vis] [] $($fields)* })*
    };
}

/// Declares the struct of one message, field by field: the fields before the rest are declared already.
#[doc(hidden)]
#[macro_export]
macro_rules! message {
    ([$($head:tt)*] [$vis:vis] [$($declared:tt)*]) => {
        #[derive(Clone, PartialEq, ::prost::Message)]
        $($head)* { $($declared)* }
    };
    ($head:tt [$vis:vis] [$($declared:tt)*] $(#[$doc:meta])* map $field:ident = $tag:tt; $($rest:tt)*) => {
        $crate::message! { $head [$vis] [$($declared)* $(#[$doc])* #[prost(btree_map(string, string), tag = $tag)]
            $vis $field: ::std::collections::BTreeMap<String, String>,] $($rest)* }
    };
    ($head:tt [$vis:vis] [$($declared:tt)*] $(#[$doc:meta])* message $type:ident $field:ident = $tag:tt; $($rest:tt)*) => {
        $crate::message! { $head [$vis] [$($declared)* $(#[$doc])* #[prost(message, optional, tag = $tag)]
            $vis $field: Option<$type>,] $($rest)* }
    };
    ($head:tt [$vis:vis] [$($declared:tt)*] $(#[$doc:meta])* repeated message $type:ident $field:ident = $tag:tt; $($rest:tt)*) => {
        $crate::message! { $head [$vis] [$($declared)* $(#[$doc])* #[prost(message, repeated, tag = $tag)]
            $vis $field: Vec<$type>,] $($rest)* }
    };
    ($head:tt [$vis:vis] [$($declared:tt)*] $(#[$doc:meta])* enum $type:ident $field:ident = $tag:tt; $($rest:tt)*) => {
        $crate::message! { $head [$vis] [$($declared)* $(#[$doc])* #[prost(enumeration($type), tag = $tag)]
            $vis $field: i32,] $($rest)* }
    };
    ($head:tt [$vis:vis] [$($declared:tt)*] $(#[$doc:meta])* oneof $type:ident $field:ident = $tags:tt; $($rest:tt)*) => {
        $crate::message! { $head [$vis] [$($declared)* $(#[$doc])* #[prost(oneof($type), tags $tags)]
            $vis $field: Option<$type>,] $($rest)* }
    };
    ($head:tt [$vis:vis] [$($declared:tt)*] $(#[$doc:meta])* bytes $field:ident = $tag:tt; $($rest:tt)*) => {
        $crate::message! { $head [$vis] [$($declared)* $(#[$doc])* #[prost(bytes = "bytes", tag = $tag)]
            $vis $field: ::prost::bytes::Bytes,] $($rest)* }
    };
    ($head:tt [$vis:vis] [$($declared:tt)*] $(#[$doc:meta])* repeated $scalar:ident $field:ident = $tag:tt; $($rest:tt)*) => {
        $crate::message! { $head [$vis] [$($declared)* $(#[$doc])* #[prost($scalar, repeated, tag = $tag)]
            $vis $field: Vec<$crate::scalar!($scalar)>,] $($rest)* }
    };
    ($head:tt [$vis:vis] [$($declared:tt)*] $(#[$doc:meta])* $scalar:ident $field:ident = $tag:tt; $($rest:tt)*) => {
        $crate::message! { $head [$vis] [$($declared)* $(#[$doc])* #[prost($scalar, tag = $tag)]
            $vis $field: $crate::scalar!($scalar),] $($rest)* }
    };
}

/// The type of a scalar field.
#[doc(hidden)]
#[macro_export]
macro_rules! scalar {
    (bool) => {
        bool
    };
    (int32) => {
        i32
    };
    (int64) => {
        i64
    };
    (uint32) => {
        u32
    };
    (uint64) => {
        u64
    };
    (string) => {
        String
    };
}
