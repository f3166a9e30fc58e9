//! The macro [`json!`](crate::json).

/// Builds a [`Value`](crate::Value) from JSON with expressions in the place of values.
///
/// ```
/// let name = "web";
/// let object = gantry_json::json!({"metadata": {"name": name}, "spec": {"replicas": 1 + 2, "paused": null}});
/// assert_eq!(object["spec"]["replicas"], 3);
/// ```
#[macro_export]
macro_rules! json {
    (null) => { $crate::Value::Null };
    ([]) => { $crate::Value::Array(::std::vec::Vec::new()) };
    ([ $($items:tt)+ ]) => { $crate::Value::Array($crate::json_items!([] $($items)+)) };
    ({}) => { $crate::Value::Object($crate::Map::new()) };
    ({ $($members:tt)+ }) => { $crate::Value::Object($crate::json_members!([] $($members)+)) };
    ($value:expr) => { $crate::to_value(&$value) };
}

/// Collects the items of a list in brackets, one after the other.
#[doc(hidden)]
#[macro_export]
macro_rules! json_items {
    ([ $($done:expr,)* ]) => { ::std::vec![ $($done),* ] };
    ([ $($done:expr,)* ] null $(, $($rest:tt)*)?) => {
        $crate::json_items!([ $($done,)* $crate::Value::Null, ] $($($rest)*)?)
    };
    ([ $($done:expr,)* ] [ $($item:tt)* ] $(, $($rest:tt)*)?) => {
        $crate::json_items!([ $($done,)* $crate::json!([ $($item)* ]), ] $($($rest)*)?)
    };
    ([ $($done:expr,)* ] { $($item:tt)* } $(, $($rest:tt)*)?) => {
        $crate::json_items!([ $($done,)* $crate::json!({ $($item)* }), ] $($($rest)*)?)
    };
    ([ $($done:expr,)* ] $item:expr $(, $($rest:tt)*)?) => {
        $crate::json_items!([ $($done,)* $crate::to_value(&$item), ] $($($rest)*)?)
    };
}

/// Collects the members of an object in brackets, one after the other.
#[doc(hidden)]
#[macro_export]
macro_rules! json_members {
    ([ $($done:expr,)* ]) => { <$crate::Map as ::std::iter::FromIterator<($crate::SmolStr, $crate::Value)>>::from_iter([ $($done),* ]) };
    ([ $($done:expr,)* ] $name:tt : null $(, $($rest:tt)*)?) => {
        $crate::json_members!([ $($done,)* ($crate::SmolStr::from($name), $crate::Value::Null), ] $($($rest)*)?)
    };
    ([ $($done:expr,)* ] $name:tt : [ $($value:tt)* ] $(, $($rest:tt)*)?) => {
        $crate::json_members!([ $($done,)* ($crate::SmolStr::from($name), $crate::json!([ $($value)* ])), ] $($($rest)*)?)
    };
    ([ $($done:expr,)* ] $name:tt : { $($value:tt)* } $(, $($rest:tt)*)?) => {
        $crate::json_members!([ $($done,)* ($crate::SmolStr::from($name), $crate::json!({ $($value)* })), ] $($($rest)*)?)
    };
    ([ $($done:expr,)* ] $name:tt : $value:expr $(, $($rest:tt)*)?) => {
        $crate::json_members!([ $($done,)* ($crate::SmolStr::from($name), $crate::to_value(&$value)), ] $($($rest)*)?)
    };
}
