//! Target `upgrade`: the steps of `x-upgrade` and an item, with a NUL between them.
//!
//! The steps make an item that can be stored, or name the limit that it exceeds. So do steps that a publication refuses:
//! an older release may have published them.

use crate::input::Input;
use domain::base::json;
use domain::catalog::schema::{Budget, Carried, Upgrade, publish};
use domain::model::declaration::DEPTH_MAX;
use domain::model::deployed::WHOLE_BYTES_MAX;
use serde_json::{Value, json};

pub(crate) fn applied(bytes: &[u8]) {
    let (steps, item) = Input::halves(bytes);
    let parse = |bytes| json::parse(bytes, DEPTH_MAX).ok();
    let Some((steps, item)) = parse(steps).zip(parse(item)) else { return };
    let definition = definition(&steps).to_string();
    let published = publish(definition.as_bytes());
    let Ok(upgrade) = Upgrade::load(&definition) else {
        assert!(published.is_err(), "what is published loads");
        return;
    };
    let mut budget = Budget::of_request();
    let Ok(mut item) = Carried::new(item, &mut budget) else { return };
    if upgrade.apply(&mut item, &mut budget).is_ok() {
        let text = json::canonical(&item.into_value());
        assert!(json::is_storable(&text, WHOLE_BYTES_MAX, DEPTH_MAX), "{text:.200}");
    }
}

fn definition(steps: &Value) -> Value {
    json!({"title": "VM", "type": "object", "required": ["name"], "properties": {"name": {"type": "string"}},
        "x-verified": true, "x-upgrade": steps})
}
