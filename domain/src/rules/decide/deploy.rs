//! The deployed version of a decision, and its effects on the item: drift, and the base of the next comparison (R54).

use super::*;

/// Adds a deployed item version, unless the newest one of this life has the same data under the same definition.
pub(super) fn deploy(
    after: &mut Decided,
    Report { data, kind }: Report,
    numbers: Option<&mut Head>,
    ctx: &RequestContext,
) -> Result<(), Refused> {
    let data = data.into_text();
    let hash = Hash::of(&data);
    let Decided { change, item, writes, deployed } = after;
    let is_same =
        |latest: LatestDeployed| latest.hash == hash && latest.schema_version == change.schema_version;
    if item.shown_deployed().is_some_and(is_same) {
        if !matches!(kind, Reported::Observation(_)) {
            observe(item, kind, ctx.now);
        }
        return Ok(());
    }
    if item.next_deployed.is_multiple_of(CHANGE_STRIDE) {
        // The numbers of the change instance are used up, so the version takes another block of 16. The first number of
        // the block stays unused, because it is reserved for a change instance. Without the head, the caller reads
        // again.
        let numbers = numbers.ok_or(Refused::Torn)?;
        item.next_deployed = numbers.next_change + 1;
        numbers.next_change += CHANGE_STRIDE;
    }
    let id = DeployedId::new(item.id.team(), item.next_deployed).ok_or(Refused::OutOfNumbers)?;
    // Versions have no gaps (I15): `ITEM.revision` lets one of two writers with the same version commit.
    let version = item.deployed.map_or(1, |latest| latest.version + 1);
    item.next_deployed += 1;
    observe(item, kind, ctx.now);
    item.deployed = Some(LatestDeployed { id, version, hash, schema_version: change.schema_version });
    let version = Deployed {
        id,
        item: item.id,
        generation: item.generation,
        service: item.service.clone(),
        change: change.id,
        version,
        schema_version: change.schema_version,
        is_observed: matches!(kind, Reported::Observation(_)),
        is_drifted: matches!(
            kind,
            Reported::Observation(Some(Fit::Drifts { .. })) | Reported::Adopted(Fit::Drifts { .. })
        ),
        data,
        hash,
        service_owner: item.service_owner.clone(),
        consumer: item.consumer.clone(),
        request: ctx.request.clone(),
        created: ctx.now,
    };
    writes.push(Write::CreateDeployed(version.clone()));
    *deployed = Some(version);
    Ok(())
}

/// Applies a new deployed version to the item: the version that the next observation is compared with, and the drift of
/// the item (R54).
fn observe(item: &mut Item, kind: Reported, now: Timestamp) {
    let fit = match kind {
        Reported::Result => {
            item.base = Base::Newest;
            return;
        }
        Reported::Adopted(fit) => {
            item.base = Base::None;
            Some(fit)
        }
        Reported::Observation(fit) => {
            if item.base == Base::Newest {
                item.base = item.newest_of_life().map_or(Base::None, |newest| Base::Earlier(newest.id));
            }
            fit
        }
    };
    let Some(declared) = item.reached_target().and_then(Target::hash) else { return };
    match fit {
        Some(Fit::Holds) => {
            item.drift = None;
            item.completed_target = Some(Target::Declared(declared));
        }
        Some(Fit::Drifts { replaces }) => {
            item.completed_target = None;
            let since = item.drift.map_or(now, |drift| drift.since);
            item.drift = Some(Drift { since, declared, replaces });
        }
        None => {}
    }
}
