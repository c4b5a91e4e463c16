package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"time"
)

// A filter of a list, and the property of its rows.
type filter[T any] struct {
	query url.Values
	is    func(T) bool
}

func query(name, value string) url.Values { return url.Values{name: {value}} }

// Lists with each filter, and compares the ids with those of all rows with the property.
func selects[T any](f *found, path, key string, id func(T) int, filters []filter[T]) {
	all := list[T](f, goClient, path, key)
	for _, filter := range filters {
		query := filter.query.Encode()
		reply := call[page[T]](f, goClient, "GET", path+"?"+query, key, nil, 200)
		var wanted, got []int
		for _, row := range all {
			if filter.is(row) {
				wanted = append(wanted, id(row))
			}
		}
		for _, row := range reply.Results {
			got = append(got, id(row))
		}
		f.expect(query+" selects its rows", reflect.DeepEqual(wanted, got) && reply.Count == len(got), reply)
	}
}

func always[T any](T) bool { return true }
func never[T any](T) bool  { return false }

// Returns a time in the Go client's format: RFC 3339 with whole seconds and the offset of its zone.
func at(hours int) string {
	zone := time.FixedZone("", 2*60*60)
	return time.Now().Add(time.Duration(hours) * time.Hour).In(zone).Format(time.RFC3339)
}

func filters(f *found) {
	changeFilters(f)
	itemFilters(f)
	pages(f)
	singles(f)
}

func changeFilters(f *found) {
	path := owner + "change_instances/"
	first := list[changeInstance](f, goClient, path, vmKey)[0]
	item, commit := strconv.Itoa(first.ServiceItem.ID), first.Submission.CommitID
	selects(f, path, vmKey, func(change changeInstance) int { return change.ID }, []filter[changeInstance]{
		{query("modified", at(-1)), always[changeInstance]},
		{query("modified", at(1)), never[changeInstance]},
		{query("start_date", at(-1)), always[changeInstance]},
		{query("end_date", at(-1)), never[changeInstance]},
		{query("change_type", "CREATE"), func(c changeInstance) bool { return c.ChangeType == "CREATE" }},
		{query("state", "COMPLETED"), func(c changeInstance) bool { return c.State == "COMPLETED" }},
		{query("state", "PENDING,CLOSED"), func(c changeInstance) bool { return c.State == "PENDING" || c.State == "CLOSED" }},
		{query("commit_id", commit), func(c changeInstance) bool { return c.Submission.CommitID == commit }},
		{query("commit_id", "none"), never[changeInstance]},
		{query("service_item_id", item), func(c changeInstance) bool { return c.ServiceItem.ID == first.ServiceItem.ID }},
		{query("service_id", strconv.Itoa(first.Service.ID)), always[changeInstance]},
		{query("service_name", "VM"), always[changeInstance]},
		{query("service_name", "LoadBalancer"), never[changeInstance]},
		{query("consumer_team_id", strconv.Itoa(first.ConsumerTeam.ID)), always[changeInstance]},
		{query("service_owner_team_id", strconv.Itoa(first.ServiceOwnerTeam.ID)), always[changeInstance]},
		{query("application_id", strconv.Itoa(first.Application.ID)), always[changeInstance]},
		{query("exclude_referenced", "true"), always[changeInstance]},
		{query("submission_id", strconv.Itoa(first.Submission.ID)),
			func(c changeInstance) bool { return c.Submission.ID == first.Submission.ID }},
		{query("declaration", `{"cpu":4}`), func(c changeInstance) bool { return cpu(c.NewDeclaration.Declaration) == 4 }},
		{query("declaration_contains", `"name":"on`), func(c changeInstance) bool { return c.ServiceItem.Name == "one" }},
		{query("declaration_regex", `"name":"tw."`), func(c changeInstance) bool { return c.ServiceItem.Name == "two" }},
	})
	f.refuse(wish{goClient, "An unknown filter", same},
		"GET", path+"?"+query("colour", "red").Encode(), vmKey, nil, 400, `["Filter param not found."]`)
}

func cpu(declaration json.RawMessage) int {
	var machine struct {
		CPU int `json:"cpu"`
	}
	must(json.Unmarshal(declaration, &machine))
	return machine.CPU
}

func itemFilters(f *found) {
	path := owner + "service_items/"
	first := list[serviceItem](f, goClient, path, vmKey)[0]
	selects(f, path, vmKey, func(item serviceItem) int { return item.ID }, []filter[serviceItem]{
		{query("name", "one"), func(i serviceItem) bool { return i.Name == "one" }},
		{query("runtime_state", "REQUESTED,IN_SERVICE"), always[serviceItem]},
		{query("runtime_state", "IN_SERVICE"), func(i serviceItem) bool { return i.RuntimeState == "IN_SERVICE" }},
		{query("change_state", "ALL_CHANGES_COMPLETED"),
			func(i serviceItem) bool { return i.ChangeState == "ALL_CHANGES_COMPLETED" }},
		{query("application_id", strconv.Itoa(first.Application.ID)), always[serviceItem]},
		{query("application_name", "GoApp"), always[serviceItem]},
		{query("application_name_contains", "oap"), always[serviceItem]},
		{query("consumer_team_id", strconv.Itoa(first.ConsumerTeam.ID)), always[serviceItem]},
		{query("service_id", strconv.Itoa(first.Service.ID)), always[serviceItem]},
		{query("service_name", "LoadBalancer"), never[serviceItem]},
		{query("service_owner_id", strconv.Itoa(first.ServiceOwnerTeam.ID)), always[serviceItem]},
		{query("service_owner_team_id", strconv.Itoa(first.ServiceOwnerTeam.ID)), always[serviceItem]},
		{query("start_date", at(-1)), always[serviceItem]},
		{query("modified", at(1)), never[serviceItem]},
		{query("end_date", at(-1)), never[serviceItem]},
		{query("declaration", `{"cpu":4}`), func(i serviceItem) bool { return cpu(i.Declaration) == 4 }},
	})
}

// Follows `next` like the clients. It is an absolute URL with the same filters.
func pages(f *found) {
	path := consumer + "service_items/?limit=1&service_name=VM"
	first := call[page[serviceItem]](f, goClient, "GET", path, consumerKey, nil, 200)
	f.expect("the first of two pages", first.Count == 2 && len(first.Results) == 1 && first.Next != nil, first)
	second := call[page[serviceItem]](f, goClient, "GET", (*first.Next)[len(f.address):], consumerKey, nil, 200)
	f.expect("the second page is the last", len(second.Results) == 1 && second.Next == nil, second)
	offset := call[page[serviceItem]](f, goClient, "GET", path+"&offset=1", consumerKey, nil, 200)
	f.expect("an offset leads to it, too", offset.Results[0].ID == second.Results[0].ID, offset)
}

// Reads single objects with the queries of the Terraform provider. They begin with `?&`.
func singles(f *found) {
	for _, role := range []struct{ pov, key string }{{owner, vmKey}, {consumer, consumerKey}} {
		path := role.pov + "service_items/"
		items := list[terraformServiceItem](f, terraform, path+"?&limit=5&name=one", role.key)
		f.expect("one item", len(items) == 1 && items[0].Name == "one", items)
		item := call[serviceItem](f, goClient, "GET", fmt.Sprintf("%s%d/", path, items[0].ID), role.key, nil, 200)
		f.expect("the declaration", cpu(item.Declaration) == 4, item)
		var deployed struct {
			Data    document `json:"data"`
			Version int      `json:"version"`
		}
		must(json.Unmarshal(item.DeployedItem, &deployed))
		f.expect("data and version of the deployed item", deployed.Version == 2 && deployed.Data["disk"] == 4.0, deployed)
		changes := list[terraformChangeInstance](f, terraform,
			fmt.Sprintf("%schange_instances/?service_item_id=%d&state=COMPLETED", role.pov, item.ID), role.key)
		f.expect("both change instances", len(changes) == 2, changes)
		one := fmt.Sprintf("%schange_instances/%d/", role.pov, changes[0].ID)
		call[changeInstance](f, goClient, "GET", one, role.key, nil, 200)
		// A team can read its own applications in both roles.
		path = role.pov + "applications/"
		one = fmt.Sprintf("%s%d/", path, list[application](f, payloads, path, consumerKey)[0].ID)
		call[application](f, payloads, "GET", one, consumerKey, nil, 200)
	}
}
