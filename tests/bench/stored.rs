//! A stored team in memory, and plans on it. So the benchmark of the planner needs no table.

use crate::given::{CONSUMER, Changed, declaration, schema};
use domain::base::actor::Actor;
use domain::base::context::RequestContext;
use domain::base::id::ServiceId;
use domain::catalog::metadata_policy::MetadataPolicy;
use domain::catalog::schema as schemas;
use domain::catalog::service::{Service, Settings};
use domain::model::declaration as declared;
use domain::model::declaration::Declaration;
use domain::model::metadata::Since;
use domain::model::staging::StagingId;
use domain::model::submission::Scope;
use domain::model::team::Team;
use domain::model::write::Write;
use domain::rules::plan;
use domain::rules::plan::{EarlierValues, Elsewhere, Items, Offer, Offers, Plan, Request, Stored};
use domain::{Item, TeamId, TeamRef, Timestamp};
use std::sync::Arc;

/// Maximum number of changed items in one transaction. Each takes two or three writes.
const AT_ONCE: usize = 40;

/// A team with stored items.
pub struct PlannedTeam {
    stored: Stored,
    items: Items,
    offers: Offers,
    ctx: RequestContext,
}

impl PlannedTeam {
    /// Creates the team and declares this number of items.
    pub fn with(count: usize) -> Self {
        let mut planned_team = Self::new();
        let declaration = declared::parse(&declaration(count, Changed::Nothing)).unwrap();
        let written = {
            let plan = planned_team.plan(&declaration, &planned_team.items);
            plan.at_once(&planned_team.ctx).unwrap().writes
        };
        for write in written {
            planned_team.write(write);
        }
        planned_team
    }

    fn new() -> Self {
        let by = TeamRef { id: TeamId::new(2).unwrap(), name: CONSUMER.to_owned() };
        let team = Team {
            id: by.id,
            name: by.name.clone(),
            metadata: "{}".to_owned(),
            since: Since::EVER,
            confirm_removals: false,
        };
        let head = team.first_head();
        let by = Actor::Key { name: "key".to_owned(), team: by };
        let ctx =
            RequestContext { by, request: "JKJaXmPLvH00001=".to_owned(), now: Timestamp::from_micros(1_000) };
        let stored = Stored { team, head, applications: Vec::new() };
        Self { stored, items: Items::new(), offers: offers(), ctx }
    }

    fn write(&mut self, write: Write) {
        if let Write::AdvanceHead { after, .. } = write {
            self.stored.head = after;
        } else if let Write::PutApplication { after, .. } = write {
            self.stored.applications.push(after);
        } else if let Write::PutItem { after, .. } = write {
            self.items.entry(after.application_id()).or_default().push(after);
        }
    }

    /// Returns the items that `submit` reads for a declaration.
    pub fn read(&self, declaration: &Declaration) -> Items {
        let applications = plan::to_read(&self.stored, declaration, Scope::Whole);
        let items = |id| -> Vec<Item> { self.items.get(&id).cloned().unwrap_or_default() };
        applications.into_iter().map(|id| (id, items(id))).collect()
    }

    /// Executes a submission between its reads and its writes. Returns the number of writes or work records.
    pub fn submit(&self, declaration: &Declaration, items: &Items, changed: usize) -> usize {
        let read = plan::to_read(&self.stored, declaration, Scope::Whole);
        assert_eq!(read.len(), items.len());
        let plan = self.plan(declaration, items);
        if changed <= AT_ONCE {
            plan.at_once(&self.ctx).unwrap().writes.len()
        } else {
            plan.staged(StagingId::of(&self.ctx.request, 0)).unwrap().works.len()
        }
    }

    fn plan<'a>(&'a self, declaration: &'a Declaration, items: &'a Items) -> Plan<'a> {
        let request = Request {
            declaration,
            scope: Scope::Whole,
            is_confirmed: true,
            commit_id: None,
            message: None,
            ctx: &self.ctx,
            idempotency: None,
            metadata_policy: &MetadataPolicy::default(),
            unread: &[],
            earlier: &EarlierValues::new(),
            elsewhere: &Elsewhere::default(),
            vacant: &[],
            reuse_from: plan::REUSE_FROM,
        };
        plan::plan(&self.stored, items, &self.offers, &request)
            .unwrap_or_else(|refused| panic!("{refused:?}"))
    }
}

fn offers() -> Offers {
    let schema = schemas::publish(schema().to_string().as_bytes()).unwrap();
    let service = Service {
        id: ServiceId::new(1).unwrap(),
        title: schema.title.clone(),
        owner: TeamRef { id: TeamId::new(1).unwrap(), name: "VMOwnerTeam".to_owned() },
        settings: Settings::default(),
        former_dependents: Vec::new(),
        has_docs: false,
        schema_version: 1,
        first_with_words: None,
        revision: 1,
        created: Timestamp::from_micros(0),
        modified: Timestamp::from_micros(0),
    };
    Offers::from([(schema.title.clone(), Offer { service, schema: Arc::new(schema) })])
}
