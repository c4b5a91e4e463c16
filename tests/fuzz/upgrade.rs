//! Target `upgrade`: the steps of `x-upgrade` and an item, with a NUL between them.
//!
//! The steps make an item that can be stored, or name the limit that it exceeds. So do steps that a publication refuses:
//! an older release may have published them.

use crate::input::Input;
use domain::base::json;
use domain::catalog::schema::{Budget, Carried, Exceeded, Upgrade, publish};
use domain::model::declaration::DEPTH_MAX;
use domain::model::deployed::WHOLE_BYTES_MAX;
use domain::model::storable::StorableValue;
use serde_json::{Value, json};

pub(crate) fn applied(bytes: &[u8]) {
    let (steps, item) = Input::halves(bytes);
    // A definition may have larger numbers than an item.
    let steps = serde_json::from_slice(steps).ok();
    let Some((steps, item)) = steps.zip(json::parse(item, DEPTH_MAX).ok()) else { return };
    let definition = definition(&steps).to_string();
    let published = publish(definition.as_bytes());
    let Ok(upgrade) = Upgrade::load(&definition) else {
        assert!(published.is_err(), "what is published loads");
        return;
    };
    let mut budget = Budget::of_request();
    let carried = StorableValue::new(item).map_err(Exceeded::Item);
    let carried = carried.and_then(|item| Carried::new(item, &mut budget));
    let Ok(mut item) = carried else { return };
    if upgrade.apply(&mut item, &mut budget).is_ok() {
        let Ok(item) = item.into_storable() else { panic!("the steps make what no record can hold") };
        assert!(item.text().len() <= WHOLE_BYTES_MAX, "{:.200}", item.text());
        // A request could have brought it.
        let read = json::parse(item.text().as_bytes(), DEPTH_MAX).map(|value| json::canonical(&value));
        assert_eq!(read.as_deref(), Ok(item.text()));
    }
}

fn definition(steps: &Value) -> Value {
    json!({"title": "VM", "type": "object", "required": ["name"], "properties": {"name": {"type": "string"}},
        "x-verified": true, "x-upgrade": steps})
}
