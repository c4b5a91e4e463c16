// Speaks to the system as the public Go client and the Terraform provider do, and decodes each reply into their types.
//
//	go run . ADDRESS FOUND
//
// ADDRESS is that of a system with the demo world. FOUND gets what was called and how it went, as JSON. Ends with 1 when a
// reply has another status, a value of another type, or lacks a field.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"strings"
)

const (
	owner    = "/v1/orcabase/serviceowner/"
	consumer = "/v1/orcabase/consumer/"
	submit   = consumer + "submissions/submit/"
	validate = consumer + "submissions/validate/"
	ownerKey = "vm-owner-key"
	teamKey  = "awesome-key"
)

// A row of the page: what was called, and what came of it.
type row struct {
	Method  string `json:"method"`
	Path    string `json:"path"`
	Type    string `json:"type"`
	Outcome string `json:"outcome"`
}

type refusal struct {
	What  string `json:"what"`
	Reply string `json:"reply"`
}

type found struct {
	Calls    []row     `json:"calls"`
	Refusals []refusal `json:"refusals"`
	failed   int
	address  string
}

// Sends a request and returns the status and the body.
func (f *found) send(method, path, key string, body any) (int, []byte) {
	var reader io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		must(err)
		reader = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, f.address+path, reader)
	must(err)
	request.Header.Set("Authorization", "Api-Key "+key)
	request.Header.Set("Content-Type", "application/json")
	reply, err := http.DefaultClient.Do(request)
	must(err)
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	must(err)
	return reply.StatusCode, text
}

// Calls, and decodes the reply into a value of the client's type.
func call[T any](f *found, method, path, shown, key string, body any, status int) T {
	var into T
	got, text := f.send(method, path, key, body)
	outcome := "types agree"
	if got != status {
		outcome = fmt.Sprintf("status %d, not %d: %.300s", got, status, text)
	} else if err := json.Unmarshal(text, &into); err != nil {
		outcome = err.Error()
	} else if missing := missing(reflect.TypeOf(into), text); len(missing) > 0 {
		outcome = "missing: " + strings.Join(missing, ", ")
	}
	name := strings.ReplaceAll(strings.TrimPrefix(reflect.TypeOf(into).String(), "main."), "main.", "")
	f.Calls = append(f.Calls, row{method, shown, name, outcome})
	if outcome != "types agree" {
		f.failed++
		fmt.Printf("FAILED  %s %s: %s\n", method, path, outcome)
	}
	return into
}

// A field that a refusal is expected in.
func (f *found) refuse(what, method, path, key string, body any, status int, part string) {
	got, text := f.send(method, path, key, body)
	if got != status || !strings.Contains(string(text), part) {
		f.failed++
		fmt.Printf("FAILED  %s: %d %.300s\n", what, got, text)
	}
	f.Refusals = append(f.Refusals, refusal{what, fmt.Sprintf("%d, %s", status, part)})
}

// Returns the fields of a type that a JSON object lacks; of a list, of its first result.
func missing(of reflect.Type, text []byte) []string {
	var object map[string]json.RawMessage
	if of.Kind() != reflect.Struct || json.Unmarshal(text, &object) != nil {
		return nil
	}
	var names []string
	for i := range of.NumField() {
		field := of.Field(i)
		if field.Anonymous {
			names = append(names, missing(field.Type, text)...)
			continue
		}
		name := field.Tag.Get("json")
		value, is := object[name]
		switch {
		case name == "":
		case !is:
			names = append(names, name)
		case field.Type.Kind() == reflect.Slice && field.Type.Elem().Kind() == reflect.Struct:
			var elements []json.RawMessage
			if json.Unmarshal(value, &elements) == nil && len(elements) > 0 {
				names = append(names, missing(field.Type.Elem(), elements[0])...)
			}
		}
	}
	return names
}

func must(err error) {
	if err != nil {
		fmt.Println("FAILED ", err)
		os.Exit(1)
	}
}

func expect(f *found, what string, holds bool) {
	if !holds {
		f.failed++
		fmt.Println("FAILED ", what)
	}
}

func declaration(items ...document) document {
	services := document{"VM": items}
	return document{"AwesomeConsumer": document{"GoApp": document{"metadata": document{}, "services": services}}}
}

func main() {
	f := &found{address: strings.TrimSuffix(strings.TrimSpace(os.Args[1]), "/")}
	submissions(f)
	decisions(f)
	lists(f)
	ownersObjects(f)
	text, err := json.MarshalIndent(f, "", " ")
	must(err)
	must(os.WriteFile(os.Args[2], text, 0o644))
	fmt.Printf("%d calls, %d refusals, %d failures\n", len(f.Calls), len(f.Refusals), f.failed)
	if f.failed > 0 {
		os.Exit(1)
	}
}

func submissions(f *found) {
	body := declaration(document{"name": "one", "cpu": 1}, document{"name": "two", "cpu": 1})
	call[page[team]](f, "GET", "/v1/account/teams/", "/v1/account/teams/", teamKey, nil, 200)
	valid := call[validity](f, "POST", validate, validate, teamKey, body, 200)
	expect(f, "the declaration is valid", valid.IsValid)
	made := call[submitted](f, "PATCH", submit+"?commit_id=c1", submit, teamKey, body, 201)
	expect(f, "two change instances", len(made.ChangeInstances) == 2 && made.CommitID == "c1")
	call[submitted](f, "PATCH", submit, submit, teamKey, body, 200)
	wrong := declaration(document{"name": "one", "cpu": "many"})
	invalid := call[validity](f, "POST", validate, validate, teamKey, wrong, 400)
	expect(f, "the errors name the team", !invalid.IsValid && invalid.Errors["AwesomeConsumer"] != nil)
}

// The Terraform provider sends every field of its type with each update.
type update struct {
	State        string   `json:"state"`
	Log          string   `json:"log"`
	DeployedItem document `json:"deployed_item"`
}

func decisions(f *found) {
	changes := call[page[changeInstance]](f, "GET", owner+"change_instances/?state=PENDING&service_name=VM",
		owner+"change_instances/", ownerKey, nil, 200)
	expect(f, "two are pending", len(changes.Results) == 2)
	path := func(at int) string { return fmt.Sprintf("%schange_instances/%d/", owner, changes.Results[at].ID) }
	shown := owner + "change_instances/{id}/"
	call[changeInstance](f, "GET", path(0), shown, ownerKey, nil, 200)
	seen := call[changeInstance](f, "PATCH", path(0), shown, ownerKey, document{"state": "", "log": "seen"}, 200)
	expect(f, "an empty state moves nothing", seen.State == "PENDING" && seen.Log == "seen")
	call[changeInstance](f, "PATCH", path(0), shown, ownerKey, document{"state": "APPROVED"}, 200)
	failed := call[changeInstance](f, "PUT", path(0), shown, ownerKey, update{"ERROR", "half", document{"disk": 1}}, 200)
	expect(f, "what the failure left is recorded",
		failed.State == "ERRORED" && failed.ServiceItem.DeployedItem["disk"] == float64(1))
	call[changeInstance](f, "POST", path(1), shown, ownerKey, update{"REJECTED", "no", document{}}, 200)
	history := call[page[historyEntry]](f, "GET", path(0)+"history/", shown+"history/", ownerKey, nil, 200)
	expect(f, "the history names the team", len(history.Results) == 4 && history.Results[0].ChangedByTeam == "VMOwnerTeam")

	f.refuse("REJECTED to PENDING", "PATCH", path(1), ownerKey, document{"state": "PENDING"}, 400, "illegal_transition")
	f.refuse("a rejection with another deployed item", "PATCH", path(1), ownerKey,
		document{"state": "REJECTED", "deployed_item": document{"disk": 2}}, 400, "deployed_item_too_early")
	f.refuse("the state name ERROR in a reply: it is ERRORED", "GET", path(0), ownerKey, nil, 200, `"state":"ERRORED"`)
	f.refuse("health as text: it is JSON", "GET", "/v1/health", ownerKey, nil, 200, `{"`)

	body := declaration(document{"name": "one", "cpu": 2}, document{"name": "two", "cpu": 2})
	answered := call[submitted](f, "PATCH", submit, submit, teamKey, body, 201)
	done := fmt.Sprintf("%schange_instances/%d/", owner, answered.ChangeInstances[0].ID)
	call[changeInstance](f, "PATCH", done, shown, ownerKey, document{"state": "APPROVED"}, 200)
	call[changeInstance](f, "PATCH", done, shown, ownerKey, update{"COMPLETED", "done", document{"disk": 1}}, 200)
	f.refuse("COMPLETED to CLOSED", "PATCH", done, ownerKey, document{"state": "CLOSED"}, 400, "illegal_transition")
}

func lists(f *found) {
	for _, pov := range []struct{ name, key string }{{"serviceowner", ownerKey}, {"consumer", teamKey}} {
		path := "/v1/orcabase/" + pov.name + "/"
		since := "?modified=2020-01-01"
		items := call[page[serviceItem]](f, "GET", path+"service_items/"+since, path+"service_items/", pov.key, nil, 200)
		expect(f, "two items since then", len(items.Results) == 2)
		for _, item := range items.Results[:1] {
			call[serviceItem](f, "GET", fmt.Sprintf("%sservice_items/%d/", path, item.ID), path+"service_items/{id}/",
				pov.key, nil, 200)
		}
		call[page[changeInstance]](f, "GET", path+"change_instances/"+since, path+"change_instances/", pov.key, nil, 200)
		call[page[changeInstance]](f, "GET", path+"change_instances/referenced/", path+"change_instances/referenced/",
			pov.key, nil, 200)
		call[page[changeInstance]](f, "GET", path+"change_instances/dependant/", path+"change_instances/dependant/",
			pov.key, nil, 200)
		call[page[service]](f, "GET", path+"services/", path+"services/", pov.key, nil, 200)
		applications := call[page[application]](f, "GET", path+"applications/", path+"applications/", pov.key, nil, 200)
		expect(f, "there is an application", len(applications.Results) > 0)
		deployed := call[page[deployedItem]](f, "GET", path+"deployed_items/", path+"deployed_items/", pov.key, nil, 200)
		expect(f, "there is a deployed item", len(deployed.Results) == 1)
	}
	call[page[submission]](f, "GET", consumer+"submissions/", consumer+"submissions/", teamKey, nil, 200)
}

func ownersObjects(f *found) {
	services := call[page[service]](f, "GET", owner+"services/?name=VM", owner+"services/", ownerKey, nil, 200)
	vm := services.Results[0]
	one := fmt.Sprintf("%sservices/%d/", owner, vm.ID)
	shown := owner + "services/{id}/"
	call[service](f, "GET", one, shown, ownerKey, nil, 200)
	call[service](f, "PATCH", one, shown, ownerKey, document{"approval_required": true}, 200)
	call[validity](f, "POST", owner+"services/validate/", owner+"services/validate/", ownerKey, vm.Schema.Schema, 200)
	configs := owner + "service_configs/"
	call[config](f, "POST", configs, configs, ownerKey, document{"service": vm.ID, "config": document{"a": 1}}, 201)
	call[page[config]](f, "GET", configs, configs, ownerKey, nil, 200)

	items := call[page[serviceItem]](f, "GET", owner+"service_items/", owner+"service_items/", ownerKey, nil, 200)
	deployedItems := owner + "deployed_items/"
	made := call[deployedItem](f, "POST", deployedItems, deployedItems, ownerKey,
		document{"data": document{"disk": 3}, "service_item": items.Results[0].URL}, 201)
	version := fmt.Sprintf("%s%d/", deployedItems, made.ID)
	call[deployedItem](f, "PATCH", version, deployedItems+"{id}/", ownerKey, document{"data": document{"ip": "10.0.0.1"}}, 201)
	f.refuse("DELETE of a version", "DELETE", version, ownerKey, nil, 405, "method_not_allowed")

	hooks := "/v1/external/serviceowner/webhooks/"
	hook := call[webhook](f, "POST", hooks, hooks, ownerKey,
		document{"name": "go", "service": vm.ID, "target_url": "http://127.0.0.1:9/"}, 201)
	call[webhook](f, "GET", fmt.Sprintf("%s%d/", hooks, hook.ID), hooks+"{id}/", ownerKey, nil, 200)
	call[page[webhook]](f, "GET", hooks, hooks, ownerKey, nil, 200)
	messages := "/v1/orcaexternal/serviceowner/messages/"
	call[message](f, "POST", messages, messages, ownerKey, document{"description": "Maintenance on Sunday"}, 201)
	call[page[message]](f, "GET", messages, messages, ownerKey, nil, 200)
}
