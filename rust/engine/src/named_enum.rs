//! Enums whose values have names, so that each name is written once.

/// Declares an enum and the name of each of its values.
///
/// The enum gets `ALL` (every value, in the order of declaration, which is also the order of `Ord`), `as_str`
/// (the name of a value), `named` (the value of a name) and `Display` (the name). More derives can be written
/// above the enum.
///
/// ```ignore
/// named_enum! {
///     /// How large a shirt is.
///     #[derive(Default)]
///     pub enum Size {
///         /// Fits children.
///         Small = "small",
///         /// Fits most people.
///         #[default]
///         Large = "large",
///     }
/// }
/// assert_eq!(Size::named("large"), Some(Size::Large));
/// ```
macro_rules! named_enum {
    (
        $(#[$enum_attribute:meta])*
        $visibility:vis enum $name:ident {
            $($(#[$attribute:meta])* $variant:ident = $text:literal,)+
        }
    ) => {
        $(#[$enum_attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $visibility enum $name {
            $($(#[$attribute])* $variant,)+
        }

        impl $name {
            /// Every value, in order.
            $visibility const ALL: [Self; [$($text),+].len()] = [$(Self::$variant),+];

            /// The name of the value.
            #[must_use]
            $visibility const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            /// The value that has exactly this name; `None` if there is none.
            #[must_use]
            $visibility fn named(text: &str) -> Option<Self> {
                match text {
                    $($text => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

pub(crate) use named_enum;

#[cfg(test)]
mod tests {
    named_enum! {
        /// How large a shirt is.
        #[derive(Default)]
        enum Size {
            /// Fits children.
            Small = "small",
            /// Fits most people.
            #[default]
            Large = "LARGE",
        }
    }

    #[test]
    fn every_value_has_one_name_and_every_name_one_value() {
        assert_eq!(Size::ALL, [Size::Small, Size::Large]);
        assert_eq!(Size::ALL.map(Size::as_str), ["small", "LARGE"]);
        assert_eq!(Size::ALL.map(|size| Size::named(&size.to_string())), Size::ALL.map(Some));
        assert!(Size::Small < Size::Large);
        assert_eq!(Size::default(), Size::Large);
    }

    #[test]
    fn other_texts_name_no_value() {
        for text in ["", "Small", "large", " small", "small\n", "smal"] {
            assert_eq!(Size::named(text), None, "{text:?}");
        }
    }
}
