//! Bodies of updates: any of `state`, `log`, `deployed_item` (docs/reference/http/README.md, convention 9).

use domain::State;
use domain::model::deployed::DEPLOYED_BYTES_MAX;
use domain::rules::decide::Update;
use dovetail_http::{Failure, Fields};

/// The error text of null as deployed data, which existing clients expect.
pub(crate) const NOT_NULL: &str = "This field may not be null.";

/// Parses an update.
pub(crate) fn update(mut fields: Fields) -> Result<Update, Failure> {
    // The Terraform provider always sends the field, and leaves it empty without a state.
    fields.ignore_empty("state");
    let update = Update {
        state: fields.one_of("state", State::ALL.map(State::name), State::parse).nullable(),
        log: fields.string("log").nullable(),
        deployed_item: fields.object("deployed_item").null(NOT_NULL).storable(DEPLOYED_BYTES_MAX).optional(),
        patch: None,
        planned_item: fields.object("planned_item").storable(DEPLOYED_BYTES_MAX).nullable(),
    };
    fields.finish(|| Some(update))
}
