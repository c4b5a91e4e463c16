//! The properties of a definition that name items of other services.

use super::*;

/// A property that names items of another service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferenceField {
    /// The property's name.
    pub field: String,
    /// The title of the other service.
    pub service: String,
    pub form: Form,
}

/// The number of items in a reference property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    List,
    One,
}

/// A position in a declaration that names an item of another service.
pub(crate) struct Named<'a> {
    pub(crate) field: &'a str,
    /// The index in a list.
    index: Option<usize>,
    service: &'a str,
    name: &'a str,
}

impl Named<'_> {
    pub(super) fn reference(&self) -> Reference {
        Reference { service: self.service.to_owned(), name: self.name.to_owned() }
    }

    /// Returns whether this position names the referenced item.
    pub(crate) fn names(&self, reference: &Reference) -> bool {
        (self.service, self.name) == (reference.service.as_str(), reference.name.as_str())
    }

    /// Returns the JSON pointer within the declaration.
    pub(crate) fn pointer(&self) -> String {
        let mut pointer = below("", self.field);
        if let Some(index) = self.index {
            push_token(&mut pointer, &index.to_string());
        }
        pointer
    }
}

/// Returns each position in a declaration that names an item.
pub(super) fn named<'a>(fields: &'a [ReferenceField], body: &'a Value) -> impl Iterator<Item = Named<'a>> {
    fields.iter().flat_map(|ReferenceField { field, service, form }| {
        let value = body.get(field);
        let names = match form {
            Form::List => value.and_then(Value::as_array).map_or(&[][..], Vec::as_slice),
            Form::One => value.map_or(&[][..], std::slice::from_ref),
        };
        names.iter().enumerate().filter_map(move |(index, name)| {
            let index = (*form == Form::List).then_some(index);
            Some(Named { field, index, service, name: name.as_str()? })
        })
    })
}

/// The reference properties of a stored definition, which needs no compilation for them.
#[derive(Clone, Debug)]
pub struct References(Vec<ReferenceField>);

impl References {
    /// Reads the text of a definition that was checked at its publication.
    pub fn of(text: &str) -> Self {
        let definition: Value = serde_json::from_str(text).unwrap_or_default();
        let fields = definition.as_object().into_iter().flat_map(reference_fields);
        Self(fields.filter_map(|(_, field)| field.ok()).collect())
    }

    /// Returns the JSON pointers within a declaration that name each referenced item.
    pub fn pointers(&self, body: &Value) -> BTreeMap<Reference, Vec<String>> {
        let mut pointers = BTreeMap::<Reference, Vec<String>>::new();
        for named in named(&self.0, body) {
            pointers.entry(named.reference()).or_default().push(named.pointer());
        }
        pointers
    }
}

/// Returns the reference properties of a definition with their pointers, or the reason why one is invalid.
pub(super) fn reference_fields(
    root: &Map<String, Value>,
) -> impl Iterator<Item = (String, Result<ReferenceField, &'static str>)> {
    let properties = root.get("properties").and_then(Value::as_object).into_iter().flatten();
    properties.filter_map(|(field, property)| {
        let mut pointer = "/properties".to_owned();
        push_token(&mut pointer, field);
        Some((pointer, reference_field(field, property)?))
    })
}

fn reference_field(field: &str, property: &Value) -> Option<Result<ReferenceField, &'static str>> {
    let format = property.get("format").and_then(Value::as_str);
    let form = match format {
        Some("reference_list") => Some((Form::List, "array")),
        Some("reference") => Some((Form::One, "string")),
        Some(_) | None => None,
    };
    let Some(service) = property.get("service_reference") else {
        return form.map(|_| Err("must have `service_reference`, the title of the referenced service"));
    };
    let Some((form, kind)) = form else {
        return Some(Err(
            "must have the format `reference_list` or `reference`, because it has `service_reference`",
        ));
    };
    if property.get("type").and_then(Value::as_str) != Some(kind) {
        return Some(Err("must have the type `array` for a `reference_list`, or `string` for a `reference`"));
    }
    let service = service.as_str().filter(|service| name_problem(service).is_none());
    Some(match service {
        Some(service) => Ok(ReferenceField { field: field.to_owned(), service: service.to_owned(), form }),
        None => Err("`service_reference` must be the title of a service"),
    })
}
