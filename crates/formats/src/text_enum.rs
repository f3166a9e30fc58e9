//! Enums whose variants have a text each, written next to the variant.

/// Declares an enum whose variants have a text each, and the listed functions and constants between the two.
///
/// ```
/// gantry_formats::text_enum! {
///     #[derive(Clone, Copy, Debug, PartialEq, Eq)]
///     enum Unit {
///         Second = "s",
///         Hour = "h",
///     }
///     /// All of them.
///     const ALL: [Self; 2];
///     /// Its text.
///     fn as_str(self) -> &'static str;
///     /// The unit with this text.
///     fn parse(text: &str) -> Option<Self>;
/// }
/// assert_eq!(Unit::ALL, [Unit::Second, Unit::Hour]);
/// assert_eq!(Unit::Hour.as_str(), "h");
/// assert_eq!(Unit::parse("s"), Some(Unit::Second));
/// assert_eq!(Unit::parse("d"), None);
/// ```
#[macro_export]
macro_rules! text_enum {
    (@items [$($variant:ident = $text:literal,)*]
        $(#[$attribute:meta])* $visibility:vis const $all:ident: [Self; $count:literal]; $($items:tt)*
    ) => {
        $(#[$attribute])*
        $visibility const $all: [Self; $count] = [$(Self::$variant,)*];

        $crate::text_enum!(@items [$($variant = $text,)*] $($items)*);
    };
    (@items [$($variant:ident = $text:literal,)*]
        $(#[$attribute:meta])* $visibility:vis fn $as_text:ident(self) -> &'static str; $($items:tt)*
    ) => {
        $(#[$attribute])*
        $visibility fn $as_text(self) -> &'static str {
            match self {
                $(Self::$variant => $text,)*
            }
        }

        $crate::text_enum!(@items [$($variant = $text,)*] $($items)*);
    };
    (@items [$($variant:ident = $text:literal,)*]
        $(#[$attribute:meta])* $visibility:vis fn $parse:ident(text: &str) -> Option<Self>; $($items:tt)*
    ) => {
        $(#[$attribute])*
        $visibility fn $parse(text: &str) -> Option<Self> {
            match text {
                $($text => Some(Self::$variant),)*
                _ => None,
            }
        }

        $crate::text_enum!(@items [$($variant = $text,)*] $($items)*);
    };
    (@items [$($variants:tt)*]) => {};
    (
        $(#[$attribute:meta])* $visibility:vis enum $name:ident {
            $($(#[$of_variant:meta])* $variant:ident = $text:literal,)*
        }
        $($items:tt)*
    ) => {
        $(#[$attribute])*
        $visibility enum $name {
            $($(#[$of_variant])* $variant,)*
        }

        impl $name {
            $crate::text_enum!(@items [$($variant = $text,)*] $($items)*);
        }
    };
}
