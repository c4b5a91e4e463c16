package main

import (
	"fmt"
	"strings"
)

// Returns a declaration of the application GoApp.
func declaration(services document) document {
	return document{"AwesomeConsumer": document{
		"metadata": document{"team_name": "AwesomeConsumer"},
		"GoApp":    document{"metadata": document{"env": "dev"}, "services": services},
	}}
}

func machine(name string, cpu any) document { return document{"name": name, "cpu": cpu} }

// Submits a partial declaration, like the Go client's tests, and waits for the pending work.
func declare(f *found, services document, status int) submitted {
	reply := call[submitted](f, goClient, "PATCH", submit+"?commit_id=51e53e4", consumerKey, declaration(services), status)
	f.settle()
	return reply
}

func submissions(f *found) {
	call[page[team]](f, payloads, "GET", account, consumerKey, nil, 200)
	call[apiError](f, goClient, "GET", account, "no-such-key", nil, 401)
	machines := []document{machine("one", 1), machine("two", 1)}
	balancers := []document{{"name": "entry", "related_vms": []string{"one"}}}
	services := document{"VM": machines, "LoadBalancer": balancers}
	for _, method := range []string{"POST", "PATCH"} {
		valid := call[validity](f, payloads, method, validate, consumerKey, declaration(services), 200)
		f.expect("the declaration is valid", valid.IsValid && len(valid.Errors) == 0, valid)
	}
	made := declare(f, services, 201)
	f.expect("three change instances", len(made.ChangeInstances) >= 3 && *made.CommitID == "51e53e4", made)
	unchanged := declare(f, services, 200)
	f.expect("a repeated declaration changes nothing", len(unchanged.ChangeInstances) == 0, unchanged)
	wrong := declaration(document{"VM": []document{machine("one", "many")}})
	for _, path := range []string{validate, submit} {
		invalid := call[validity](f, payloads, "POST", path, consumerKey, wrong, 400)
		f.expect("errors are nested by team", !invalid.IsValid && invalid.Errors["AwesomeConsumer"] != nil, invalid)
	}
	one := call[submission](f, payloads, "GET", fmt.Sprintf("%ssubmissions/%d/", consumer, made.ID), consumerKey, nil, 200)
	all := list[submission](f, payloads, consumer+"submissions/", consumerKey)
	f.expect("the list has the submission", one.ID == made.ID && all[0].ID == made.ID, all)
}

// Returns the path of a change instance for its owner.
func changePath(id int) string { return fmt.Sprintf("%schange_instances/%d/", owner, id) }

// Returns the open change instance of an item.
func pending(f *found, key, item string) changeInstance {
	changes := list[changeInstance](f, goClient, owner+"change_instances/?state=PENDING", key)
	return pick(f, "a PENDING change instance of "+item, changes, func(change changeInstance) bool {
		return change.ServiceItem.Name == item
	})
}

// Updates a change instance like the Go client, and checks the state in the reply.
func update(f *found, key string, id int, body goUpdate) changeInstance {
	reply := call[changeInstance](f, goClient, "PATCH", changePath(id), key, body, 200)
	f.expect("the state "+body.State, body.State == "" || reply.State == body.State, reply)
	return reply
}

// Updates and then reads a change instance like the Terraform provider.
func apply(f *found, id int, state string, deployed document) terraformChangeInstance {
	path := changePath(id)
	status, text := f.send("PATCH", path, vmKey, terraformMove(state, deployed))
	f.expect("Terraform's "+state, status == 200, string(text))
	reply := call[terraformChangeInstance](f, terraform, "GET", path, vmKey, nil, 200)
	got, wanted := fmt.Sprint(reply.ServiceItem.DeployedItem), fmt.Sprint(deployed)
	f.expect("Terraform reads its deployed item", got == wanted, got)
	return reply
}

func decisions(f *found) {
	one := pending(f, vmKey, "one").ID
	two := pending(f, vmKey, "two").ID
	completed(f, one)
	rejected(f, two)
	declare(f, document{"VM": []document{machine("one", 1), machine("two", 2)},
		"LoadBalancer": []document{{"name": "entry", "related_vms": []string{"one"}}}}, 201)
	errored(f, pending(f, vmKey, "two").ID)
	missing := call[apiError](f, goClient, "GET", changePath(999_999_999), vmKey, nil, 404)
	f.expect("a detail", missing.Detail != "", missing)
	history(f, one)
}

func completed(f *found, id int) {
	path := changePath(id)
	read := call[changeInstance](f, goClient, "GET", path, vmKey, nil, 200)
	f.expect("the link leads to the change instance", strings.HasSuffix(read.URL, path), read)
	f.refuse(wish{goClient, "`\"deployed_item\": null`, sent by old versions of the Go client", same},
		"PATCH", path, vmKey,
		document{"state": "APPROVED", "log": "", "deployed_item": nil}, 400, "This field may not be null.")
	seen := update(f, vmKey, id, goUpdate{Log: "seen"})
	f.expect("an empty state moves nothing", seen.State == "PENDING" && seen.Log == "seen", seen)
	f.refuse(wish{terraform, "A deployed item without a state, while the change instance is PENDING", unknown},
		"PATCH", path, vmKey, terraformMove("", document{"disk": 1}), 400, "deployed_item_too_early")
	update(f, vmKey, id, goUpdate{State: "APPROVED", Log: "approved"})
	done := update(f, vmKey, id, goUpdate{"COMPLETED", "deployed", document{"disk": 1}})
	f.expect("the deployed item is the raw data", string(done.ServiceItem.DeployedItem) == `{"disk":1}`, done)
	f.expect("the item is in service", done.ServiceItem.RuntimeState == "IN_SERVICE", done)
	update(f, vmKey, id, goUpdate{State: "COMPLETED"})
	f.refuse(wish{goClient, "COMPLETED to PENDING", same},
		"PATCH", path, vmKey, goUpdate{State: "PENDING"}, 400, "cannot switch from state COMPLETED to PENDING")
	f.refuse(wish{goClient, "COMPLETED to CLOSED: COMPLETED is final", "200, CLOSED"},
		"PATCH", path, vmKey, goUpdate{State: "CLOSED"}, 400, "illegal_transition")
	for _, method := range []string{"PUT", "POST"} {
		call[changeInstance](f, payloads, method, path, vmKey, goUpdate{Log: "noted with " + method}, 200)
	}
	f.settle()
}

func rejected(f *found, id int) {
	path := changePath(id)
	f.refuse(wish{terraform, "A rejection with a deployed item that differs from the newest one", unknown},
		"PATCH", path, vmKey, terraformMove("REJECTED", document{"disk": 2}), 400, "deployed_item_too_early")
	apply(f, id, "REJECTED", document{})
	f.refuse(wish{goClient, "REJECTED to PENDING: `retry` or a new declaration opens a new attempt", "200, PENDING"},
		"PATCH", path, vmKey, goUpdate{State: "PENDING"}, 400, "illegal_transition")
}

func errored(f *found, id int) {
	path := changePath(id)
	apply(f, id, "APPROVED", document{"disk": 2})
	failed := apply(f, id, "ERROR", document{"disk": 3})
	f.expect("ERROR is ERRORED", failed.State == "ERRORED", failed)
	f.refuse(wish{goClient, "The state name ERROR in replies: requests may say ERROR, replies say ERRORED", "200, ERROR"},
		"GET", path, vmKey, nil, 200, `"state":"ERRORED"`)
	repeated := update(f, vmKey, id, goUpdate{State: "ERRORED", Log: "the disk is full"})
	f.expect("the log", repeated.Log == "the disk is full", repeated)
	update(f, vmKey, id, goUpdate{State: "CLOSED", Log: "given up"})
}

func history(f *found, id int) {
	for _, role := range []struct{ pov, key string }{{owner, vmKey}, {consumer, consumerKey}} {
		entries := list[historyEntry](f, goClient, fmt.Sprintf("%schange_instances/%d/history/", role.pov, id), role.key)
		newest, oldest := entries[0], entries[len(entries)-1]
		f.expect("the newest entry comes first", newest.Log == "noted with POST" && newest.Reason == "log", entries)
		f.expect("the team is its name", newest.ChangedByTeam != nil && *newest.ChangedByTeam == "VMOwnerTeam", newest)
		f.expect("the first state", oldest.State == "PENDING" && oldest.ID == id, oldest)
	}
}

// Completes a load balancer and its dependent team's share. Then changes its machine, for a referenced change instance.
func dependants(f *found) {
	for key, deployed := range map[string]document{lbKey: {"vip": "10.0.0.9"}, npKey: nil} {
		id := pending(f, key, "entry").ID
		update(f, key, id, goUpdate{State: "APPROVED"})
		update(f, key, id, goUpdate{State: "COMPLETED", DeployedItem: deployed})
	}
	f.settle()
	declare(f, document{"VM": []document{machine("one", 4), machine("two", 2)},
		"LoadBalancer": []document{{"name": "entry", "related_vms": []string{"one"}}}}, 201)
	id := pending(f, vmKey, "one").ID
	update(f, vmKey, id, goUpdate{State: "APPROVED"})
	update(f, vmKey, id, goUpdate{"COMPLETED", "larger", document{"disk": 4}})
	f.settle()

	own := list[changeInstance](f, goClient, owner+"change_instances/dependant/?ordering=-modified", npKey)
	f.expect("they are the dependent team's", own[0].IsDependant && own[0].Owner.Name == "NPOwnerTeam", own)
	list[changeInstance](f, goClient, consumer+"change_instances/dependant/", consumerKey)
	items := list[serviceItem](f, goClient, owner+"service_items/dependant/?ordering=-modified", npKey)
	f.expect("the item with a dependent team", items[0].Name == "entry", items)
	deployed := list[deployedItem](f, payloads, owner+"deployed_items/dependant/", npKey)
	f.expect("the service owner's deployed item", string(deployed[0].Data) == `{"vip":"10.0.0.9"}`, deployed)
	list[service](f, payloads, owner+"services/dependant/", npKey)
	referenced := list[changeInstance](f, goClient, owner+"change_instances/referenced/", lbKey)
	f.expect("the balancer changes with its machine", referenced[0].ServiceItem.Name == "entry", referenced)
	list[changeInstance](f, goClient, consumer+"change_instances/referenced/", consumerKey)
}
