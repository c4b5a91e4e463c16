// Sends the requests of the public Go client and of the Terraform provider, and checks each reply against their types.
//
//	go run . ADDRESS FOUND
//
// ADDRESS is a system with the demo world, without confirm_removals. FOUND gets the calls and their outcomes as JSON. The program ends with 1 if
// a reply has an unexpected status, a value of another type, or a value outside of its documented form.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

const (
	account  = "/v1/account/teams/"
	owner    = "/v1/orcabase/serviceowner/"
	consumer = "/v1/orcabase/consumer/"
	submit   = consumer + "submissions/submit/"
	validate = consumer + "submissions/validate/"

	vmKey       = "vm-owner-key"
	lbKey       = "lb-owner-key"
	npKey       = "np-owner-key"
	consumerKey = "awesome-key"
)

// Names of the clients on the page. Routes that neither of them calls have the types of public payloads.
const (
	goClient  = "Go client"
	terraform = "Terraform provider"
	payloads  = "public payloads"
)

func main() {
	f := &found{address: strings.TrimSuffix(strings.TrimSpace(os.Args[1]), "/")}
	submissions(f)
	decisions(f)
	dependants(f)
	filters(f)
	deployedItems(f)
	catalogue(f)
	charges(f)
	external(f)
	health(f)
	replacements(f)
	text, err := json.MarshalIndent(f, "", " ")
	must(err)
	must(os.WriteFile(os.Args[2], text, 0o600))
	fmt.Printf("%d calls, %d refusals, %d failures\n", len(f.Calls), len(f.Refusals), f.failed)
	if f.failed > 0 {
		os.Exit(1)
	}
}

func must(err error) {
	if err != nil {
		fmt.Println("FAILED ", err)
		os.Exit(1)
	}
}
