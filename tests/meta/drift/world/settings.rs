//! Requests that change what teams and services set: services, keys, members, webhooks, messages and healthchecks.

use super::{World, each_page};
use crate::meta::drift::{OPERATOR, OWNER};
use domain::base::id::WebhookId;
use domain::outreach::webhook::delivery::{Ended, GivenUp};
use domain::{ChangeId, State, Timestamp};
use serde_json::{Value, json};
use support::{ApiRequest, multipart};

impl World {
    /// Sends an owner's requests other than decisions.
    pub(super) fn own(&self) {
        let (services, deployed) = (format!("{OWNER}/services/"), format!("{OWNER}/deployed_items/"));
        let key = "vm-owner-key";
        let disk = json!({"title": "Disk", "type": "object", "required": ["name"],
            "properties": {"name": {"type": "string"}}});
        let data = json!({"data": {"ip": "10.0.0.1"}, "change_instance": self.change, "colour": "red"});
        self.call(200, "POST", &format!("{services}validate/?dry_run=true"), key, &disk);
        for status in [201, 200] {
            self.call(status, "POST", &services, key, &disk);
            self.call(status, "POST", &deployed, key, &data);
        }
        let change = self.get(200, &self.change, key);
        let then = format!("{}?as_of=yesterday", change["service_item"]["url"].as_str().unwrap());
        self.get(400, &then, key);
        let data = json!({"data": {"ip": "10.0.0.1"}, "service_item": change["service_item"]["url"]});
        self.call(200, "POST", &deployed, key, &data);
        for status in [201, 200] {
            let newest = self.get(200, &format!("{deployed}?ordering=-created&limit=1"), key);
            let url = newest["results"][0]["url"].as_str().unwrap();
            self.call(status, "PATCH", url, key, &json!({"data": {"cpu": 9}}));
        }
        let settings = json!({"approval_required": true, "state": "IN_SERVICE", "allow_manual_approval": true,
            "allow_manual_completion": true, "update_strategy": "MODIFY", "complete_unneeded": false, "claim_required": false,
            "minimum_version": 1, "tags": ["compute"],
            "dependent_teams": [{"id": 3}], "colour": "red"});
        self.call(200, "PUT", &format!("{services}1/"), key, &settings);
    }

    /// Uploads documentation and configs of a service.
    pub(super) fn keep(&self) {
        let (key, docs) = ("vm-owner-key", format!("{OWNER}/services/1/docs/"));
        let configs = format!("{OWNER}/service_configs/");
        for status in [201, 200] {
            let (header, body) = multipart("md_file", b"# VM");
            let (path, headers) = (docs.as_str(), &[header]);
            self.send(status, &ApiRequest { method: "POST", path, key: Some(key), headers, body });
            let config = json!({"service": 1, "config": {"status": status}, "colour": 1});
            self.call(201, "POST", &configs, key, &config);
        }
        self.call(400, "POST", &docs, key, &json!({}));
        self.call(400, "POST", &configs, key, &json!({}));
    }

    /// Creates, rotates and revokes an API key.
    pub(super) fn keys(&self) {
        let (keys, admin) = ("/v1/account/api_keys/", "vm-owner-key");
        let body = json!({"name": "pipeline", "role": "GENERAL", "expires": "2099-12-31", "colour": "red"});
        let made = self.call(201, "POST", keys, admin, &body);
        let rotate = format!("{}rotate/", made["url"].as_str().unwrap());
        let overlap = json!({"overlap_seconds": 60, "expires": "2099-12-31"});
        self.call(201, "POST", &rotate, admin, &overlap);
        self.call(400, "POST", &rotate, admin, &Value::Null);
        self.call(400, "POST", keys, admin, &json!({}));
        self.get(200, made["url"].as_str().unwrap(), admin);
        self.call(204, "DELETE", made["url"].as_str().unwrap(), admin, &Value::Null);
        self.get(200, keys, admin);
    }

    /// Creates a team and reads all routes of operators, with known and unknown parameters.
    pub(super) fn platform(&self) {
        let (teams, key) = ("/v1/platform/teams/", OPERATOR);
        let body =
            json!({"name": "Payments", "key_name": "first", "confirm_removals": false, "colour": "red"});
        self.call(201, "POST", teams, key, &body);
        self.call(400, "POST", teams, key, &body);
        each_page(format!("{teams}?limit=3"), "/next", |page| self.get(200, page, key));
        self.get(400, &format!("{teams}?colour=red"), key);
        for list in ["queues/?limit=1", "queues/?colour=red", "status/?colour=red"] {
            self.system.get(&format!("/v1/platform/{list}"), key);
        }
    }

    /// Adds, changes and removes a member.
    pub(super) fn members(&self) {
        let (members, admin) = ("/v1/account/members/", "vm-owner-key");
        let body = json!({"subject": "u-1", "name": "Jane", "role": "GENERAL", "colour": "red"});
        let added = self.call(201, "POST", members, admin, &body);
        self.call(400, "POST", members, admin, &body);
        let url = added["url"].as_str().unwrap();
        self.get(200, members, admin);
        self.get(200, url, admin);
        self.call(200, "PATCH", url, admin, &json!({"name": "Jane Doe", "role": "ADMIN"}));
        self.call(400, "PATCH", url, admin, &json!({"role": 5}));
        self.call(204, "DELETE", url, admin, &Value::Null);
        self.get(200, "/v1/account/records/", admin);
    }

    /// Creates, changes and triggers a webhook, and reads its failed deliveries.
    pub(super) fn webhooks(&self) {
        let (webhooks, admin) = ("/v1/external/serviceowner/webhooks/", "vm-owner-key");
        // Port 1 has no listener, so the trigger gets a response without a real target.
        let body = json!({"service": 1, "name": "ansible", "description": "starts it", "target_url": "http://127.0.0.1:1/",
            "authorization": "Bearer one", "change_instance_state": "APPROVED", "active": false, "verify": true,
            "timeout": 5, "trust_env": false, "trigger_wait_time": 1, "trigger_cooling_time": 1, "remind_after": 300,
            "colour": "red"});
        let made = self.call(201, "POST", webhooks, admin, &body);
        self.call(400, "POST", webhooks, admin, &json!({}));
        // A consumer's webhook may be for all services, and so may its entry in the audit log.
        let (of_consumer, target) =
            ("/v1/external/consumer/webhooks/", json!({"target_url": "http://127.0.0.1:1/"}));
        let for_all = self.call(201, "POST", of_consumer, admin, &target);
        self.get(200, of_consumer, admin);
        self.call(204, "DELETE", for_all["url"].as_str().unwrap(), admin, &Value::Null);
        let url = made["url"].as_str().unwrap();
        for method in ["PATCH", "PUT"] {
            self.call(200, method, url, admin, &body);
            self.call(400, method, url, admin, &json!({"timeout": 0}));
        }
        self.call(200, "POST", &format!("{url}trigger/"), admin, &Value::Null);
        self.call(201, "POST", &format!("{url}rotate/"), admin, &Value::Null);
        let webhook = WebhookId::parse(made["id"].as_u64().unwrap()).unwrap();
        for (number, change) in [(1, None), (2, ChangeId::parse(137_438_953_488))] {
            let (event, at, ended) = (format!("e:{number}"), Timestamp::from_micros(number), Ended::TimedOut);
            let state = State::Approved.name().to_owned();
            let given_up = GivenUp { webhook, event, change, state, attempts: 8, at, ended };
            self.system.block_on(self.system.table.give_up(&given_up)).unwrap();
        }
        let failures = format!("{url}failures/?limit=1");
        let page = self.get(200, &failures, admin);
        self.get(200, page["next"].as_str().unwrap(), admin);
        self.get(400, &format!("{url}failures/?colour=red"), admin);
        self.get(200, &format!("{webhooks}?service_id=1"), admin);
        self.get(200, url, admin);
        self.get(200, "/v1/account/records/", admin);
        self.call(204, "DELETE", url, admin, &Value::Null);
    }

    /// Creates messages for the consumers of one service and of all, then changes and removes them.
    pub(super) fn messages(&self) {
        let (messages, admin) = ("/v1/orcaexternal/serviceowner/messages/", "vm-owner-key");
        let service = format!("{OWNER}/services/1/");
        let body = json!({"description": "VMs rest on Sunday", "expiry_date": "2099-12-31T00:00:00Z",
            "scopes": [service], "colour": "red"});
        self.call(201, "POST", messages, admin, &json!({"description": "To all", "expiry_date": null}));
        let made = self.call(201, "POST", messages, admin, &body);
        self.call(400, "POST", messages, admin, &json!({}));
        self.call(404, "POST", &messages.replace("serviceowner", "consumer"), admin, &body);
        let url = made["url"].as_str().unwrap();
        for method in ["PATCH", "PUT"] {
            self.call(200, method, url, admin, &body);
            self.call(400, method, url, admin, &json!({"description": 5}));
        }
        self.get(200, url, admin);
        let page = self.get(200, &format!("{messages}?limit=1"), admin);
        self.get(200, page["next"].as_str().unwrap(), admin);
        self.get(200, &messages.replace("serviceowner", "consumer"), "awesome-key");
        let gone = self.call(201, "POST", messages, admin, &body);
        self.call(204, "DELETE", gone["url"].as_str().unwrap(), admin, &Value::Null);
        self.get(200, "/v1/account/records/", admin);
    }

    /// Creates a healthcheck, checks one item and all items, and reads the results.
    pub(super) fn healthchecks(&self) {
        let (checks, admin) = ("/v1/external/serviceowner/healthchecks/", "vm-owner-key");
        // Port 1 has no listener, so each check ends at once.
        let body = json!({"service": 1, "target_url": "http://127.0.0.1:1/", "authorization": "Bearer one",
            "schedule_enabled": true, "schedule_crontab": "0 3 * * *", "colour": "red"});
        let made = self.call(201, "POST", checks, admin, &body);
        self.call(200, "POST", checks, admin, &made);
        self.call(400, "POST", checks, admin, &json!({}));
        self.call(404, "POST", "/v1/external/consumer/healthchecks/", admin, &body);
        let item = self.get(200, &format!("{OWNER}/service_items/?name=one"), admin);
        let path = format!("{checks}trigger/service_item/{}/", item["results"][0]["id"]);
        self.get(200, &path, admin);
        self.get(400, &path, admin);
        self.get(200, &format!("{OWNER}/service_items/?name=one"), admin);
        self.get(200, &format!("{checks}trigger/service/1/"), admin);
        let url = made["url"].as_str().unwrap();
        assert_eq!(self.get(200, url, admin)["last_run"], Value::Null);
        self.system.sweep();
        // The local queue delivers the run in the background.
        while self.get(200, url, admin)["last_run"].is_null() {
            std::thread::yield_now();
        }
        let page = self.get(200, &format!("{checks}?limit=1"), admin);
        self.get(200, page["next"].as_str().unwrap(), admin);
        self.get(400, &format!("{checks}?colour=red"), admin);
        self.get(200, "/v1/account/records/", admin);
        self.call(204, "DELETE", url, admin, &Value::Null);
    }
}
