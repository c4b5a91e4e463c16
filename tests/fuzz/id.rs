//! Target `id`: a number from a request is an id only if it prints as the same number and consists of its parts.

use crate::input::Input;
use domain::base::id::{ApplicationId, DeployedId, ServiceId};
use domain::{ChangeId, Hash, ItemId, SubmissionId, TeamId};
use std::fmt::Display;

/// The largest id. Every JSON implementation represents integers up to 2^53 - 1 exactly.
const WIRE_MAX: u64 = (1 << 53) - 1;

pub(crate) fn parsed(bytes: &[u8]) {
    let mut input = Input(bytes);
    let (raw, number) = (input.number(), input.number());
    for raw in [raw, raw >> 11] {
        of_the_catalogue(raw);
        of_an_application(raw);
        of_an_item(raw);
        of_a_team(raw);
        // The parts must not make an id that `parse` rejects.
        let Some(team) = TeamId::new(raw) else { continue };
        for number in [number, number >> 29, number >> 52] {
            assert_eq!(
                ChangeId::new(team, number).map(|id| (id.team(), id.number())),
                (1..1 << 35).contains(&number).then_some((team, number))
            );
            let application = ApplicationId::new(team, number);
            assert_eq!(application.is_some(), (1..1 << 12).contains(&number));
            let item = application.and_then(|application| ItemId::new(application, raw));
            assert_eq!(item, item.and_then(|item| ItemId::parse(item.get())));
        }
    }
    if let Ok(text) = str::from_utf8(bytes)
        && let Some(hash) = Hash::parse(text)
    {
        assert_eq!(hash.to_string(), text, "a hash has one spelling");
    }
}

fn assert_prints_as(raw: u64, number: u64, id: impl Display) {
    assert!(raw <= WIRE_MAX, "{raw}");
    assert_eq!((number, id.to_string()), (raw, raw.to_string()));
}

fn of_the_catalogue(raw: u64) {
    assert_eq!(TeamId::new(raw).map(TeamId::get), (1..1 << 18).contains(&raw).then_some(raw));
    assert_eq!(ServiceId::new(raw).map(ServiceId::get), (1..=WIRE_MAX).contains(&raw).then_some(raw));
}

fn of_an_application(raw: u64) {
    let Some(id) = ApplicationId::parse(raw) else { return };
    assert_prints_as(raw, id.get(), id);
    let first = ApplicationId::new(id.team(), id.number());
    assert_eq!(first == Some(id), id.generation() == 0);
    let next = id.next_generation();
    assert_eq!(next.and_then(|next| ApplicationId::parse(next.get())), next);
    assert_eq!(TeamId::new(id.team().get()), Some(id.team()));
}

fn of_an_item(raw: u64) {
    let Some(id) = ItemId::parse(raw) else { return };
    assert_prints_as(raw, id.get(), id);
    for generation in [0, 1, (1 << 23) - 1] {
        let application = id.application(generation);
        assert_eq!(ItemId::new(application, id.number()), Some(id));
        assert_eq!(ApplicationId::parse(application.get()), Some(application));
        assert_eq!((id.team(), id.application_number()), (application.team(), application.number()));
    }
}

fn of_a_team(raw: u64) {
    let change = ChangeId::parse(raw);
    if let Some(id) = change {
        assert_prints_as(raw, id.get(), id);
        assert_eq!(ChangeId::new(id.team(), id.number()), Some(id));
        assert_eq!(TeamId::new(id.team().get()), Some(id.team()));
    }
    // The three kinds have the same format.
    assert_eq!(DeployedId::parse(raw).map(DeployedId::get), change.map(ChangeId::get));
    assert_eq!(SubmissionId::parse(raw).map(SubmissionId::get), change.map(ChangeId::get));
}
