//! The ids of one execution, in the places of the names of a sequence.

/// Number of partitions of the index with pending work.
const WORK_SHARDS: u64 = 16;

/// Teams, service and objects of one execution.
#[derive(Clone, Copy, Debug, Default)]
pub struct Names {
    pub consumer: u64,
    pub owner: u64,
    pub dependent: u64,
    pub service: u64,
    /// A number that no other execution has.
    pub id: u64,
}

impl Names {
    /// Replaces the names in a key by ids.
    pub fn bind(&self, key: &str) -> String {
        let mut bound = String::with_capacity(key.len());
        for (part, is_name) in key.split(['{', '}']).zip([false, true].into_iter().cycle()) {
            if is_name {
                bound.push_str(&self.id_of(part).to_string());
            } else {
                bound.push_str(part);
            }
        }
        bound
    }

    fn id_of(&self, name: &str) -> u64 {
        match name {
            "consumer" => self.consumer,
            "owner" => self.owner,
            "dependent" => self.dependent,
            "service" => self.service,
            "shard" => self.consumer % WORK_SHARDS,
            "id" => self.id,
            _ => panic!("no id has the name {name}"),
        }
    }
}
