//! Filters of deployed items (docs/reference/http/lists.md).

use crate::api::lists::filters::BAD_DECLARATIONS;
use crate::api::lists::library::{CONSUMER, LIBRARY, Library, OWNER};

#[test]
fn deployed_items_have_the_filters_of_public_clients() {
    let library = &*LIBRARY;
    let Library { alpha, beta, one, two, vm, db, web, data, first_item, .. } = library;
    let cases = [
        (format!("application_id={web}"), 6),
        (format!("application_id={data}"), 0),
        (format!("consumer_team_id={alpha}"), 6),
        (format!("consumer_team_id={beta}"), 0),
        (format!("service_owner_team_id={one}"), 6),
        (format!("service_owner_team_id={two}"), 0),
        (format!("service_id={vm}"), 6),
        (format!("service_id={db}"), 0),
        (format!("service_item_id={first_item}"), 2),
        (format!("service_item_id=[{first_item}]"), 2),
        ("service_item_id=1".to_owned(), 0),
        ("declaration={%22ip%22:%2210.0.0.0%22}".to_owned(), 2),
        ("declaration={%22version%22:2}".to_owned(), 1),
        ("declaration_contains=10.0.0".to_owned(), 6),
        ("declaration_contains=nothing".to_owned(), 0),
        ("declaration_regex=10%5C.0%5C.0%5C.%5B34%5D".to_owned(), 2),
    ];
    for (list, key) in [(CONSUMER, "alpha"), (OWNER, "one")] {
        let list = format!("{list}/deployed_items/");
        library.assert_counts(&list, key, &cases);
        library.assert_refused(&list, key, BAD_DECLARATIONS);
    }
}
