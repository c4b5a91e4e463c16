//! The properties of a definition that name items of other services (R17).
//!
//! A reference stands at a path: at a schema that `properties`, `items`, `additionalProperties` and `$ref` alone reach
//! from the root.

use super::part::{Source, Way, Word, steps};
use super::*;

/// The keyword of a reference: the title of the other service.
pub(super) const SERVICE_REFERENCE: &str = "service_reference";

/// The memory of one part of the tree in bytes.
const REFERENCES_BYTES: usize = 512;

/// A property that names items of another service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferenceField {
    /// The JSON pointer of the property's schema within the definition.
    pub pointer: String,
    /// The title of the other service.
    pub service: String,
    pub form: Form,
    pub reach: Reach,
}

/// The items that a reference may name (R69).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Items of the same application.
    #[default]
    Application,
    /// Also items of another application of the same team.
    Team,
    /// Also items of other teams that grant them.
    Granted,
}

impl Reach {
    /// Returns the reach of a schema with a reference; the keyword has a valid value.
    pub(super) fn of(schema: &Value) -> Self {
        match schema.get(Word::Reach.keyword()).and_then(Value::as_str) {
            Some("team") => Self::Team,
            Some("granted") => Self::Granted,
            Some(_) | None => Self::Application,
        }
    }
}

/// The number of items in a reference property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    List,
    One,
}

/// A position in a declaration that names an item of another service.
pub(crate) struct Named<'a> {
    /// The JSON pointer of the property within the declaration.
    property: String,
    /// The index in a list.
    index: Option<usize>,
    pub(crate) service: &'a str,
    pub(crate) reach: Reach,
    pub(crate) name: Name<'a>,
}

/// The value at a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Name<'a> {
    /// The name of an item of the same application.
    Here(&'a str),
    /// An item of an application of the same team.
    InTeam { application: &'a str, name: &'a str },
    /// An item of any team, by its id.
    Item(u64),
    /// An object of another form.
    Malformed,
}

impl<'a> Name<'a> {
    /// Reads the value of a reference; none if its type is not one of a reference.
    fn of(value: &'a Value, reach: Reach) -> Option<Self> {
        let members = match value {
            Value::String(name) => return Some(Self::Here(name)),
            Value::Object(members) if reach > Reach::Application => members,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                return None;
            }
        };
        let text = |name| members.get(name).and_then(Value::as_str);
        let of_team = || Some(Self::InTeam { application: text("application")?, name: text("name")? });
        let of_any = || members.get("service_item").and_then(Value::as_u64).map(Self::Item);
        let name = match members.len() {
            1 => of_any(),
            2 => of_team(),
            _ => None,
        };
        Some(name.unwrap_or(Self::Malformed))
    }

    /// Returns the smallest reach that allows this value.
    pub(crate) const fn needs(self) -> Reach {
        match self {
            Self::Here(_) | Self::Malformed => Reach::Application,
            Self::InTeam { .. } => Reach::Team,
            Self::Item(_) => Reach::Granted,
        }
    }
}

impl Named<'_> {
    /// Returns the reference to an item of the same application; none to another item.
    pub(crate) fn reference(&self) -> Option<Reference> {
        let Name::Here(name) = self.name else { return None };
        Some(Reference { service: self.service.to_owned(), name: name.to_owned() })
    }

    /// Returns whether this position names the referenced item of the same application.
    pub(crate) fn names(&self, reference: &Reference) -> bool {
        self.service == reference.service && self.name == Name::Here(&reference.name)
    }

    /// Returns the tokens of the property, without the index in a list.
    pub(crate) fn property(&self) -> Vec<String> {
        tokens(&self.property)
    }

    /// Returns the JSON pointer within the declaration.
    pub(crate) fn pointer(&self) -> String {
        let mut pointer = self.property.clone();
        if let Some(index) = self.index {
            push_token(&mut pointer, &index.to_string());
        }
        pointer
    }
}

/// The reference properties of a definition as a tree: those of one path, and those of the paths below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct References {
    fields: Vec<ReferenceField>,
    /// The members with a name in the definition. Members without a reference are here too, because `others` does not
    /// apply to them.
    members: BTreeMap<String, Self>,
    others: Option<Box<Self>>,
    elements: Option<Box<Self>>,
}

impl References {
    /// Reads the references within an application from the text of a definition that was checked at its publication. A
    /// stored definition needs no compilation for them.
    pub fn of(text: &str) -> Self {
        let definition: Value = serde_json::from_str(text).unwrap_or_default();
        let draft = definition.as_object().and_then(draft).unwrap_or_default();
        Self::of_definition(&definition, draft, Words::Ignore)
    }

    /// Reads all references from the text of a definition whose words have a meaning.
    pub fn with_reach(text: &str) -> Self {
        let definition: Value = serde_json::from_str(text).unwrap_or_default();
        let draft = definition.as_object().and_then(draft).unwrap_or_default();
        Self::of_definition(&definition, draft, Words::Apply)
    }

    /// Returns the references of a definition. A path that leads back to an earlier schema of the path ends there,
    /// because a recursive definition has references at the properties of the item alone.
    pub(super) fn of_definition(definition: &Value, draft: Draft, words: Words) -> Self {
        let mut references = Self::default();
        let mut walk = Walk {
            source: Source { definition, draft },
            has_reach: words == Words::Apply,
            along: Vec::new(),
            left: EXPANDED_MAX,
        };
        references.add("", definition, &mut walk);
        references.prune();
        references
    }

    /// Adds a schema that applies at this path.
    fn add(&mut self, pointer: &str, schema: &Value, walk: &mut Walk<'_>) {
        // A definition from before the limits of today has references at the properties of the item alone.
        if walk.left == 0 || walk.along.iter().any(|earlier| earlier == pointer) {
            return;
        }
        walk.left -= 1;
        walk.along.push(pointer.to_owned());
        if let Some(Ok((service, form))) = reference(schema) {
            let reach = if walk.has_reach { Reach::of(schema) } else { Reach::Application };
            self.fields.push(ReferenceField { pointer: pointer.to_owned(), service, form, reach });
        }
        for step in steps(pointer, schema, &walk.source) {
            let below = match step.way {
                Way::Same => &mut *self,
                Way::Member(name) => self.members.entry(name).or_default(),
                Way::Others => self.others.get_or_insert_default(),
                Way::Elements => self.elements.get_or_insert_default(),
            };
            below.add(&step.pointer, step.schema, walk);
        }
        walk.along.pop();
    }

    /// Removes the parts without a reference, and returns whether one is left.
    fn prune(&mut self) -> bool {
        self.others.take_if(|others| !others.prune());
        self.elements.take_if(|elements| !elements.prune());
        let has_others = self.others.is_some();
        self.members.retain(|_, below| below.prune() || has_others);
        !self.fields.is_empty() || self.below().next().is_some()
    }

    /// Returns the reference properties, in the order of the paths.
    pub fn fields(&self) -> Vec<&ReferenceField> {
        let below = self.below().flat_map(Self::fields);
        self.fields.iter().chain(below).collect()
    }

    fn below(&self) -> impl Iterator<Item = &Self> {
        self.members.values().chain(self.others.as_deref()).chain(self.elements.as_deref())
    }

    /// Returns whether a reference reaches items of other applications or teams.
    pub fn has_reach(&self) -> bool {
        self.fields.iter().any(|field| field.reach > Reach::Application) || self.below().any(Self::has_reach)
    }

    /// Returns the memory of the tree in bytes; the estimate is never too low.
    pub(super) fn bytes(&self) -> usize {
        self.below().map(Self::bytes).fold(REFERENCES_BYTES, usize::saturating_add)
    }

    /// Returns the JSON pointers within a declaration that name each referenced item.
    pub fn pointers(&self, body: &Value) -> BTreeMap<Reference, Vec<String>> {
        let mut pointers = BTreeMap::<Reference, Vec<String>>::new();
        for named in self.named(body) {
            if let Some(reference) = named.reference() {
                pointers.entry(reference).or_default().push(named.pointer());
            }
        }
        pointers
    }

    /// Returns each position in a declaration that names an item.
    pub(crate) fn named<'a>(&'a self, body: &'a Value) -> Vec<Named<'a>> {
        let mut named = Vec::new();
        self.collect(&mut String::new(), body, &mut named);
        named
    }

    fn collect<'a>(&'a self, pointer: &mut String, value: &'a Value, named: &mut Vec<Named<'a>>) {
        for ReferenceField { service, form, reach, .. } in &self.fields {
            let names = match form {
                Form::List => value.as_array().map_or(&[][..], Vec::as_slice),
                Form::One => std::slice::from_ref(value),
            };
            named.extend(names.iter().enumerate().filter_map(|(index, value)| {
                let (index, reach) = ((*form == Form::List).then_some(index), *reach);
                let name = Name::of(value, reach)?;
                Some(Named { property: pointer.clone(), index, service, reach, name })
            }));
        }
        let mut at = |token: &str, references: &'a Self, value: &'a Value| {
            let length = pointer.len();
            push_token(pointer, token);
            references.collect(pointer, value, named);
            pointer.truncate(length);
        };
        match value {
            Value::Object(members) => members.iter().for_each(|(name, value)| {
                if let Some(below) = self.members.get(name).or(self.others.as_deref()) {
                    at(name, below, value);
                }
            }),
            Value::Array(elements) => {
                let below = self.elements.as_deref().into_iter();
                let elements = below.flat_map(|below| elements.iter().map(move |element| (below, element)));
                elements.enumerate().for_each(|(index, (below, value))| at(&index.to_string(), below, value));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

/// The walk along the paths of a definition.
struct Walk<'a> {
    source: Source<'a>,
    /// Whether `x-reach` has a meaning.
    has_reach: bool,
    /// The pointers of the schemas of the present path.
    along: Vec<String>,
    /// The number of schemas that the walk may still visit, each once for each path to it.
    left: u64,
}

/// Returns whether a definition has a reference below the properties of the item.
pub(super) fn has_nested(definition: &Value) -> bool {
    words::all_subschemas(definition)
        .any(|(pointer, schema)| !is_property(&pointer) && schema.get(SERVICE_REFERENCE).is_some())
}

/// Returns whether a schema belongs to a property of the item itself.
pub(super) fn is_property(pointer: &str) -> bool {
    pointer.strip_prefix("/properties/").is_some_and(|rest| !rest.contains('/'))
}

/// Returns service and form of a schema with a reference, or the reason why the reference is invalid.
pub(super) fn reference(schema: &Value) -> Option<Result<(String, Form), &'static str>> {
    let format = schema.get("format").and_then(Value::as_str);
    let form = match format {
        Some("reference_list") => Some((Form::List, "array")),
        Some("reference") => Some((Form::One, "string")),
        Some(_) | None => None,
    };
    let Some(service) = schema.get(SERVICE_REFERENCE) else {
        return form.map(|_| Err("must have `service_reference`, the title of the referenced service"));
    };
    let Some((form, kind)) = form else {
        return Some(Err(
            "must have the format `reference_list` or `reference`, because it has `service_reference`",
        ));
    };
    let is_wide = form == Form::One && Reach::of(schema) > Reach::Application;
    let types =
        schema.get("type").map(|types| types.as_array().map_or(std::slice::from_ref(types), Vec::as_slice));
    let fits = |name: &Value| name == kind || is_wide && name == "object";
    if !types.is_some_and(|types| !types.is_empty() && types.iter().all(fits)) {
        return Some(Err(
            "must have the type `array` for a `reference_list`, or `string` for a `reference`, or with \
                         `x-reach` also `object`",
        ));
    }
    let service = service.as_str().filter(|service| name_problem(service).is_none());
    Some(match service {
        Some(service) => Ok((service.to_owned(), form)),
        None => Err("`service_reference` must be the title of a service"),
    })
}
