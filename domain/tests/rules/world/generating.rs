//! Generation of pending work, one by one or record by record.

use super::*;

impl World {
    /// Returns the pending change instances that can be created now: a share needs its cause.
    pub(crate) fn ready(&self) -> Vec<ChangeId> {
        let planned = self.snapshot.works.iter().flat_map(|work| &work.entries);
        let ready = planned.filter(|planned| {
            let is_new = !self.snapshot.changes.contains_key(&planned.id);
            is_new && planned.cause.is_none_or(|cause| self.snapshot.changes.contains_key(&cause))
        });
        ready.map(|planned| planned.id).collect()
    }

    /// Generates all pending work, oldest first.
    pub(crate) fn generate(&mut self) -> Vec<Change> {
        let mut generated = Vec::new();
        while let Some(id) = self.ready().first().copied() {
            generated.extend(self.generate_item(id));
        }
        assert!(self.snapshot.works.is_empty(), "nothing is owed any more");
        generated
    }

    /// Generates a pending change instance, with all others of its item in the same work record.
    pub(crate) fn generate_one(&mut self, id: ChangeId) -> Change {
        self.generate_item(id);
        self.change(id).clone()
    }

    fn generate_item(&mut self, id: ChangeId) -> Vec<Change> {
        let entries = self.snapshot.works.iter().map(|work| (work.id, work.entries.clone()));
        let (work, entries) = entries
            .into_iter()
            .find(|(_, entries)| entries.iter().any(|planned| planned.id == id))
            .expect("it is pending");
        let item = entries.iter().find(|planned| planned.id == id).unwrap().item;
        let planned: Vec<PlannedChange> = entries.into_iter().filter(|one| one.item == item).collect();
        let created = self.created_of(work, &planned);
        self.finish_work();
        self.audit();
        created
    }

    /// Generates all pending work as the function does: item by item, record by record.
    pub(crate) fn generate_records(&mut self) -> Vec<Change> {
        let mut generated = Vec::new();
        for work in self.snapshot.works.clone() {
            for planned in work.entries.chunk_by(|a, b| a.item == b.item) {
                generated.extend(self.created_of(work.id, planned));
            }
            self.finish_work();
        }
        self.audit();
        generated
    }

    /// Generates planned changes of one item in one transaction.
    pub(crate) fn created_of(&mut self, work: WorkId, planned: &[PlannedChange]) -> Vec<Change> {
        assert!(planned.iter().all(|planned| (planned.kind == Kind::Dependent) == planned.cause.is_some()));
        let stored = self.snapshot.submissions.iter().find(|submission| submission.id == work.submission);
        let stored = stored.unwrap().clone();
        let item = self.snapshot.items.get(&planned[0].item).map(|item| self.noted(item));
        let ctx = self.ctx(Actor::System);
        self.store_declarations(work, planned);
        let generated = generate(planned, &stored, item.as_ref(), &self.snapshot.changes, &ctx).unwrap();
        self.apply(&generated.writes);
        generated.created
    }

    /// Stores the declarations of planned changes in staged work, as the function does before its items.
    fn store_declarations(&mut self, work: WorkId, planned: &[PlannedChange]) {
        let works = self.snapshot.works.iter().filter(|one| one.id == work);
        let hashes: Vec<Hash> = planned.iter().filter_map(PlannedChange::new_hash).collect();
        let texts = works.flat_map(|work| &work.declarations).filter(|(hash, _)| hashes.contains(hash));
        let store = |(hash, text): (&Hash, &String)| Write::StoreDeclaration {
            team: team(CONSUMER).id,
            hash: *hash,
            text: text.clone(),
        };
        let writes: Vec<Write> = texts.map(store).collect();
        self.apply(&writes);
    }

    /// Removes the work records without missing change instances.
    pub(crate) fn finish_work(&mut self) {
        let now = Timestamp::from_micros(self.clock);
        loop {
            let exists = |planned: &PlannedChange| self.snapshot.changes.contains_key(&planned.id);
            let finished = self.snapshot.works.iter().find(|work| work.entries.iter().all(exists));
            let Some(work) = finished.cloned() else { return };
            let stored =
                self.snapshot.submissions.iter().find(|submission| submission.id == work.id.submission);
            let (_, done) = finish_work(stored.unwrap(), &work, now);
            self.apply(&done);
        }
    }
}
