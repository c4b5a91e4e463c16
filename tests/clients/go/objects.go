package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Records deployed items like the Go client: parents are URLs, and an update repeats the parent.
func deployedItems(f *found) {
	path := owner + "deployed_items/"
	item := pick(f, "the item one", list[serviceItem](f, goClient, owner+"service_items/", vmKey),
		func(item serviceItem) bool { return item.Name == "one" })
	change := pick(f, "a change instance of one", list[changeInstance](f, goClient, owner+"change_instances/", vmKey),
		func(change changeInstance) bool {
			return change.ServiceItem.ID == item.ID && change.State == "COMPLETED"
		})
	byItem := call[deployedItem](f, goClient, "POST", path, vmKey,
		deployedItemBody{Data: document{"disk": 5}, ServiceItem: item.URL}, 201)
	f.expect("its parents are URLs", byItem.ServiceItem == item.URL && byItem.Version == 3, byItem)
	again := call[deployedItem](f, goClient, "POST", path, vmKey,
		deployedItemBody{Data: document{"disk": 5}, ServiceItem: item.URL}, 200)
	f.expect("the same data is the same version", again.ID == byItem.ID, again)
	byChange := call[deployedItem](f, goClient, "POST", path, vmKey,
		deployedItemBody{Data: document{"disk": 6}, ChangeInstance: change.URL}, 201)
	f.expect("the change instance leads to its item", byChange.ServiceItem == item.URL && byChange.Version == 4, byChange)
	one := fmt.Sprintf("%s%d/", path, byChange.ID)
	read := call[deployedItem](f, goClient, "GET", one, vmKey, nil, 200)
	updated := call[deployedItem](f, goClient, "PATCH", one, vmKey,
		deployedItemBody{Data: document{"ip": "10.0.0.1"}, ServiceItem: read.ServiceItem}, 201)
	merged := `{"disk":6,"ip":"10.0.0.1"}`
	f.expect("a new version of merged data", updated.Version == 5 && string(updated.Data) == merged, updated)
	for _, role := range []struct{ pov, key string }{{owner, vmKey}, {consumer, consumerKey}} {
		versions := list[deployedItem](f, goClient,
			fmt.Sprintf("%sdeployed_items/?limit=100&ordering=-version&service_item_id=%d", role.pov, item.ID), role.key)
		f.expect("all versions, the newest first", len(versions) == 5 && versions[0].Version == 5, versions)
	}
	found := list[deployedItem](f, goClient, path+"?declaration=%7B%22disk%22%3A5%7D", vmKey)
	f.expect("a search in the data", len(found) == 1 && found[0].ID == byItem.ID, found)
	f.refuse(wish{goClient, "`declaration_regex` of deployed items as a JSON object: it is a pattern for their text",
		"200, a pattern for each field"},
		"GET", path+"?declaration_regex=%7B%22ip%22%3A%2210.%2A%22%7D", vmKey, nil, 400, "invalid_filter")
	f.refuse(wish{goClient, "`declaration_contains` of deployed items as a JSON object: it is a part of their text",
		"200, a part of each field"},
		"GET", path+"?declaration_contains=%7B%22disk%22%3A%226%22%7D", vmKey, nil, 200, `"count":0`)
	f.refuse(wish{goClient, "DELETE of a deployed item: versions are immutable", "204"},
		"DELETE", one, vmKey, nil, 405, "method_not_allowed")
	f.refuse(wish{goClient, "PATCH of an earlier version", unknown},
		"PATCH", fmt.Sprintf("%s%d/", path, byItem.ID), vmKey,
		deployedItemBody{Data: document{"ip": "10.0.0.2"}, ServiceItem: item.URL}, 400, "deployed_item_not_latest")
}

func catalogue(f *found) {
	services := owner + "services/"
	list[service](f, payloads, consumer+"services", consumerKey)
	vm := list[service](f, payloads, services+"?name=VM", vmKey)[0]
	one := fmt.Sprintf("%s%d/", services, vm.ID)
	for _, method := range []string{"PATCH", "PUT"} {
		settings := document{"approval_required": true, "tags": []string{"vm"}}
		changed := call[service](f, payloads, method, one, vmKey, settings, 200)
		f.expect("the setting", changed.ApprovalRequired && len(changed.Tags) == 1, changed)
	}
	call[service](f, payloads, "GET", one, vmKey, nil, 200)
	list[string](f, payloads, services+"tags/", vmKey)
	valid := call[validity](f, payloads, "POST", services+"validate/", vmKey, vm.Schema.Schema, 200)
	f.expect("the schema is valid", valid.IsValid, valid)
	configs := owner + "service_configs/"
	config := document{"service": vm.ID, "config": document{"pool": "a"}}
	made := call[serviceConfig](f, payloads, "POST", configs, vmKey, config, 201)
	f.expect("the first version", made.Service == vm.ID && made.Version == 1, made)
	list[serviceConfig](f, payloads, configs+"?service_id="+fmt.Sprint(vm.ID)+"&ordering=-version", vmKey)
	call[serviceConfig](f, payloads, "GET", fmt.Sprintf("%s%d/", configs, made.ID), vmKey, nil, 200)
}

func charges(f *found) {
	schema := document{"title": "Meter", "type": "object", "required": []string{"name"},
		"properties": document{"name": document{"type": "string"}},
		"metadata":   document{"cost_per_change": 0.5, "monthly_cost": 50, "approval_required": false}}
	services := owner + "services/"
	call[service](f, payloads, "POST", services, vmKey, schema, 201)
	meters := document{"Meter": []document{{"name": "m"}}}
	body := document{"AwesomeConsumer": document{"GoMeter": document{"services": meters}}}
	made := call[submitted](f, goClient, "PATCH", submit, consumerKey, body, 201)
	f.expect("no approval, no commit", made.ChangeInstances[0].State == "APPROVED" && made.CommitID == nil, made)
	f.settle()
	path := "/v1/marketplace/serviceowner/charges/"
	fee := list[charge](f, payloads, path+"?charge_type=cost_per_change", vmKey)[0]
	f.expect("the price of a change", fee.TotalCharge == 0.5 && !fee.Processed, fee)
	list[charge](f, payloads, strings.Replace(path, "serviceowner", "consumer", 1), consumerKey)
	one := fmt.Sprintf("%s%d/", path, fee.ID)
	billed := call[charge](f, payloads, "PATCH", one, vmKey, document{"processed": true}, 200)
	f.expect("it is processed", billed.Processed, billed)
	call[charge](f, payloads, "GET", one, vmKey, nil, 200)
	list[document](f, payloads, path+"accumulated/", vmKey)
	withdrawn := document{"AwesomeConsumer": document{"GoMeter": document{"services": document{}}}}
	gone := call[submitted](f, goClient, "PATCH", submit, consumerKey, withdrawn, 201).ChangeInstances[0]
	f.expect("a removal has an old declaration alone",
		gone.ChangeType == "DELETE" && gone.OldDeclaration != nil && gone.NewDeclaration.Version == 0, gone)
}

func external(f *found) {
	vm := list[service](f, payloads, owner+"services/?name=VM", vmKey)[0]
	hooks := "/v1/external/serviceowner/webhooks/"
	hook := call[webhook](f, payloads, "POST", hooks, vmKey,
		document{"name": "go", "service": vm.ID, "target_url": "http://127.0.0.1:9/", "authorization": "Bearer t"}, 201)
	one := fmt.Sprintf("%s%d/", hooks, hook.ID)
	for _, method := range []string{"PATCH", "PUT"} {
		changed := call[webhook](f, payloads, method, one, vmKey, document{"active": false}, 200)
		f.expect("it is not active", !changed.Active, changed)
	}
	call[webhook](f, payloads, "GET", one, vmKey, nil, 200)
	list[webhook](f, payloads, hooks, vmKey)
	deleted(f, one)
	messages := "/v1/orcaexternal/serviceowner/messages/"
	note := call[message](f, payloads, "POST", messages, vmKey, document{"description": "Maintenance on Sunday",
		"scopes": []document{{"type": "Service", "scope": document{"id": vm.ID}}}}, 201)
	one = fmt.Sprintf("%s%d/", messages, note.ID)
	call[message](f, payloads, "PATCH", one, vmKey, document{"description": "Maintenance on Monday"}, 200)
	whole := document{"description": "Maintenance on Tuesday", "expiry_date": nil,
		"scopes": []document{{"type": "Service", "scope": document{"id": vm.ID}}}}
	call[message](f, payloads, "PUT", one, vmKey, whole, 200)
	call[message](f, payloads, "GET", one, vmKey, nil, 200)
	list[message](f, payloads, messages, vmKey)
	list[message](f, payloads, strings.Replace(messages, "serviceowner", "consumer", 1), consumerKey)
	deleted(f, one)
}

func deleted(f *found, path string) {
	status, text := f.send("DELETE", path, vmKey, nil)
	outcome := agree
	if status != 204 || len(text) > 0 {
		outcome = fmt.Sprintf("status %d: %.300s", status, text)
		f.fail("DELETE "+path, outcome)
	}
	f.Calls = append(f.Calls, row{payloads, "DELETE", pattern(path), "no body", outcome})
}

// Checks the health of items. It is a text for the Go client, but the Terraform provider expects an integer.
func health(f *found) {
	vm := list[service](f, payloads, owner+"services/?name=VM", vmKey)[0]
	checks := "/v1/external/serviceowner/healthchecks/"
	call[healthcheck](f, payloads, "POST", checks, vmKey,
		document{"service": vm.ID, "target_url": "http://127.0.0.1:1/"}, 201)
	list[healthcheck](f, payloads, checks, vmKey)
	call[healthcheck](f, payloads, "GET", fmt.Sprintf("%s%d/", checks, vm.ID), vmKey, nil, 200)
	item := list[serviceItem](f, goClient, owner+"service_items/?name=one", vmKey)[0]
	told := call[healthOfItem](f, payloads, "GET", fmt.Sprintf("%strigger/service_item/%d/", checks, item.ID), vmKey, nil, 200)
	path := fmt.Sprintf("%sservice_items/%d/", owner, item.ID)
	read := call[serviceItem](f, goClient, "GET", path, vmKey, nil, 200)
	f.expect("the item shows its health", read.HealthcheckStatus != nil && *read.HealthcheckStatus == told.Status, read)
	what := "Health as text: the provider reads an integer, and cannot decode an item with a healthcheck"
	f.refuse(wish{terraform, what, "200, an integer"},
		"GET", path, vmKey, nil, 200, `"healthcheck_status":"UNKNOWN"`)
	_, text := f.send("GET", path, vmKey, nil)
	f.expect("it cannot decode it", json.Unmarshal(text, &terraformServiceItem{}) != nil, string(text))
}
