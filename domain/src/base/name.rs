//! Names of enum variants: on the wire, in records and in events.

/// Gives an enum `ALL`, `name` and `parse`, based on the strum derives `EnumString`, `IntoStaticStr` and
/// `VariantArray`.
///
/// The enum needs `#[strum(const_into_str)]`, and `serialize_all` or a name for each variant.
#[macro_export]
macro_rules! named {
    ($($named:ident),+) => {$(
        impl $named {
            /// All variants in order.
            pub const ALL: [Self; <Self as strum::VariantArray>::VARIANTS.len()] =
                *<Self as strum::VariantArray>::VARIANTS.first_chunk().unwrap();

            /// Returns the name on the wire and in the table.
            pub const fn name(self) -> &'static str {
                self.into_str()
            }

            /// Returns the variant with this name.
            pub fn parse(name: &str) -> Option<Self> {
                name.parse().ok()
            }
        }
    )+};
}
