//! Processing of charges by the service owner.

use domain::Timestamp;
use domain::base::id::ChargeId;
use domain::model::charge::Charge;
use domain::rules::charging;
use domain::rules::charging::Refused;
use domain::rules::visibility::Side;
use dovetail_aws::retry;
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, Code, Failure, Reply};
use dovetail_table::{Commit, Table};

/// Marks a charge as processed: loads, decides and commits, and starts over if another request was faster.
///
/// After a lost answer, the next attempt finds the charge processed and returns it.
pub(crate) async fn update(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let id = call.id(ChargeId::parse)?;
    let marked = retry::until_stored(retry::WRITE, |attempt| async move {
        let charge = load(table, call, id).await?;
        // The body comes after the visibility check, so a foreign charge is 404 whatever the body contains.
        let processed = processed(call)?;
        let item = table.item(charge.item).await?.ok_or(Code::Broken)?;
        let (caller, ctx) = (&call.caller.team, call.ctx());
        match charging::mark_processed(&charge, &item, processed, caller, &ctx, attempt) {
            Ok(marked) if marked.writes.is_empty() => Ok(Some(marked.charge)),
            Ok(marked) => {
                let is_stored = table.commit(&marked.writes).await? == Commit::Done;
                Ok(is_stored.then_some(marked.charge))
            }
            // Charge and item are from different moments (docs/explanation/concurrency.md, torn reads).
            Err(Refused::Torn) => Ok(None),
            Err(Refused::NotOwner) => Err(Failure::from(Code::NotOwner)),
            Err(Refused::Processed) => Err(Code::ChargeProcessed.into()),
            Err(Refused::DividedJustNow(earliest)) => Err(divided_just_now(earliest, call.now).into()),
        }
    });
    if let Some(charge) = marked.await? {
        return reply(call, &charge);
    }
    // The last attempt may be stored, although its answer was lost.
    let charge = load(table, call, id).await?;
    if charge.processed.is_some() { reply(call, &charge) } else { Err(Code::Contended.into()) }
}

/// Returns the rejection of a division before `earliest`.
fn divided_just_now(earliest: Timestamp, now: Timestamp) -> Reply {
    let micros = earliest.micros().saturating_sub(now.micros());
    // The seconds are rounded up, because a retry one second too early would fail again.
    Reply::error(Code::DividedJustNow).retry_after(micros.div_ceil(1_000_000))
}

/// Returns the charge, or 404 unless the caller's team is a party.
async fn load(table: &Table, call: &Call, id: ChargeId) -> Result<Charge, Failure> {
    let team = call.caller.team.id;
    let is_party = |charge: &Charge| Side::ALL.iter().any(|side| side.shows_charge(charge, team));
    let charge = table.charge(id).await?.filter(is_party);
    charge.ok_or_else(|| Code::NotFound.into())
}

/// Returns `processed` from the body (docs/reference/http/README.md, convention 9).
fn processed(call: &Call) -> Result<Option<bool>, Failure> {
    let mut fields = call.fields()?;
    let processed = fields.boolean("processed").optional();
    fields.finish(|| Some(processed))
}

fn reply(call: &Call, charge: &Charge) -> Result<Reply, Failure> {
    Reply::new(200, view::charge(charge, call.now, &Viewpoint::of(call)))
}
