//! The API over HTTP, by noun and verb, as its paths.

mod api_keys;
mod applications {
    mod list;
}
mod change_instances {
    mod completed_again;
    mod decide;
    mod history;
    mod list;
    mod proposals;
    mod references;
}
mod charges;
mod console;
mod demo;
mod deployed_items {
    mod create;
}
mod errors;
mod example;
mod healthchecks {
    mod manage;
    mod report;
    mod run;
}
mod lists {
    mod dependents;
    mod filters;
    pub(crate) mod library;
    mod page_bounds;
    mod pages;
}
mod members;
mod messages;
mod platform {
    mod key;
    mod queues;
    mod status;
    mod teams;
}
mod records;
mod requests {
    mod client_rules;
    mod gzip;
    mod traces;
}
mod service_configs;
mod service_items {
    mod graph;
    mod list;
}
mod services {
    mod docs;
    mod get;
    mod schema_impact;
}
mod submissions {
    mod additions;
    mod blockers;
    mod declaration;
    mod history;
    mod message;
    mod outcome;
    mod problems;
}
mod teams;
mod webhooks {
    mod deliver;
    mod manage;
    mod parties;
    mod reminders;
    mod slow;
    mod verify;
}
