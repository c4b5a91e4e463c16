package main

import (
	"encoding/json"
	"fmt"
)

// The calls of a client that carries out a replacement. Its types know neither replacements nor the kind REPLACEMENT.
// Its value is the name of an item.
type replacer interface {
	// Returns the id of the item's change instance in a state.
	find(f *found, state string) int
	// Moves a change instance. The Go client omits an empty deployed item, and the Terraform provider sends it.
	move(f *found, id int, state string, deployed document)
	// Returns runtime state, declaration and deployed item of the item.
	read(f *found) (string, document, document)
}

type goReplacer string

func (item goReplacer) find(f *found, state string) int {
	path := owner + "change_instances/?service_name=Probe&state=" + state
	is := func(change changeInstance) bool { return change.ServiceItem.Name == string(item) }
	return pick(f, state+" for "+string(item), list[changeInstance](f, goClient, path, vmKey), is).ID
}

func (item goReplacer) move(f *found, id int, state string, deployed document) {
	update(f, vmKey, id, goUpdate{State: state, DeployedItem: deployed})
}

func (item goReplacer) read(f *found) (string, document, document) {
	read := list[serviceItem](f, goClient, consumer+"service_items/?name="+string(item), consumerKey)[0]
	var declared, deployed document
	must(json.Unmarshal(read.Declaration, &declared))
	must(json.Unmarshal(read.DeployedItem, &deployed))
	return read.RuntimeState, declared, deployed
}

type terraformReplacer string

func (item terraformReplacer) row(f *found, pov, key string) terraformServiceItem {
	return list[terraformServiceItem](f, terraform, pov+"service_items/?&limit=5&name="+string(item), key)[0]
}

func (item terraformReplacer) find(f *found, state string) int {
	path := fmt.Sprintf("%schange_instances/?service_item_id=%d&state=%s", owner, item.row(f, owner, vmKey).ID, state)
	return int(list[terraformChangeInstance](f, terraform, path, vmKey)[0].ID)
}

func (item terraformReplacer) move(f *found, id int, state string, deployed document) {
	moved := apply(f, id, state, deployed)
	f.expect("Terraform reads the state "+state, moved.State == state, moved)
}

func (item terraformReplacer) read(f *found) (string, document, document) {
	read := item.row(f, consumer, consumerKey)
	return read.RuntimeState, read.Declaration, read.DeployedItem
}

// Replaces an item with the calls of each client.
func replacements(f *found) {
	schema := document{"title": "Probe", "type": "object", "required": []string{"name"},
		"properties": document{"name": document{"type": "string"}, "interval": document{"type": "integer"}}}
	probe := call[service](f, payloads, "POST", owner+"services/", vmKey, schema, 201)
	path := fmt.Sprintf("%sservices/%d/", owner, probe.ID)
	call[service](f, payloads, "PATCH", path, vmKey, document{"update_strategy": "REPLACE"}, 200)
	replace(f, "go-probe", goReplacer("go-probe"))
	replace(f, "terraform-probe", terraformReplacer("terraform-probe"))
}

func replace(f *found, item string, client replacer) {
	created := declareProbe(f, item, 1)
	f.expect("a CREATE, because nothing is in place", created.ChangeType == "CREATE", created)
	client.move(f, created.ID, "APPROVED", document{})
	client.move(f, created.ID, "COMPLETED", document{"disk": 1.0})

	removed := declareProbe(f, item, 2)
	f.expect("a DELETE instead of a MODIFY", removed.ChangeType == "DELETE" && removed.State == "PENDING", removed)
	removal := client.find(f, "PENDING")
	f.expect("the owner finds the DELETE", removal == removed.ID, removal)
	client.move(f, removal, "APPROVED", document{})
	client.move(f, removal, "COMPLETED", document{})
	creation := client.find(f, "APPROVED")
	f.expect("the owner finds the CREATE of the replacement", creation != removal, creation)
	client.move(f, creation, "COMPLETED", document{"disk": 2.0})
	inService(f, client)

	declareProbe(f, item, 3)
	returned := declareProbe(f, item, 2)
	f.expect("a return to what is in place is COMPLETED", returned.State == "COMPLETED", returned)
	client.move(f, returned.ID, "COMPLETED", document{"disk": 2.0})
	inService(f, client)
}

// Expects the item in service with the second declaration and its deployed item.
func inService(f *found, client replacer) {
	state, declared, deployed := client.read(f)
	f.expect("the item is in service", state == "IN_SERVICE", state)
	f.expect("the new declaration", declared["interval"] == 2.0, declared)
	data, _ := deployed["data"].(document)
	f.expect("the new deployed item", data["disk"] == 2.0, deployed)
}

// Submits a declaration of one probe, in an application of its own. Returns its change instance.
func declareProbe(f *found, item string, interval int) changeInstance {
	services := document{"Probe": []document{{"name": item, "interval": interval}}}
	body := document{"AwesomeConsumer": document{item: document{"services": services}}}
	reply := call[submitted](f, goClient, "PATCH", submit, consumerKey, body, 201)
	f.expect("one change instance", len(reply.ChangeInstances) == 1, reply)
	f.settle()
	return reply.ChangeInstances[0]
}
