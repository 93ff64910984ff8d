// Command generate writes ../facts.json: what is known of the built-in kinds of one Kubernetes minor, as data; and beside it
// openapi/facts.json: what only OpenAPI documents show.
// Facts about types come from the Go modules themselves (reflection over the structs, their OpenAPI definitions, and
// their defaulting functions run on probe objects); discovery and bootstrap objects come from a running kube-apiserver.
// README.md beside this file has the command.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
)

func main() {
	log.SetFlags(0)
	out := flag.String("out", "../facts.json", "the file to write, and to keep the server's part of when no server is named")
	check := flag.Bool("check", false, "write nothing; exit 1 and show the first differing lines if the file is not what would be written")
	conditional := flag.Bool("conditional", false, "print the defaults that depend on other fields, and stop")
	messagesOut := flag.String("messages", "", "write objects in protobuf and JSON (../protobuf/messages.json) and stop")
	var server serverFlags
	flag.StringVar(&server.url, "server", "", "URL of a fresh kube-apiserver of the same release; empty: keep what the file has")
	flag.StringVar(&server.token, "token", "", "bearer token of a cluster admin there")
	flag.StringVar(&server.certificateAuthority, "certificate-authority", "", "PEM file the server's certificate is verified with; empty: not verified")
	flag.Parse()

	kinds := builtInKinds()
	if *messagesOut != "" {
		written, err := messages(kinds)
		if err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(*messagesOut, written, 0o644); err != nil {
			log.Fatalf("write %s: %v", *messagesOut, err)
		}
		return
	}
	types := describeTypes(kinds)
	defaults := probeDefaults(kinds)
	if *conditional {
		defaults.printConditional()
		return
	}
	defaults.apply(types)

	before, err := readFacts(*out)
	if err != nil && !os.IsNotExist(err) {
		log.Fatalf("read %s: %v", *out, err)
	}
	publishedOut := filepath.Join(filepath.Dir(*out), "openapi", "facts.json")
	publishedBefore, err := readPublished(publishedOut)
	if err != nil && !os.IsNotExist(err) {
		log.Fatalf("read %s: %v", publishedOut, err)
	}
	facts := Facts{Release: release, Types: types, Kinds: kinds.names(), Selectable: selectableFields(kinds), Resources: before.Resources, Bootstrap: before.Bootstrap}
	published := describePublished(types)
	published.OptionVersions, published.Parameters = publishedBefore.OptionVersions, publishedBefore.Parameters
	if server.url != "" {
		if err := facts.askServer(server); err != nil {
			log.Fatalf("ask %s: %v", server.url, err)
		}
		if err := published.askServer(server); err != nil {
			log.Fatalf("ask %s: %v", server.url, err)
		}
	}
	same := true
	for path, written := range map[string][]byte{*out: facts.encode(), publishedOut: published.encode()} {
		same = writeOrCompare(path, written, *check) && same
	}
	if !same {
		os.Exit(1)
	}
}

// writeOrCompare reports whether the file is up to date, and which lines are not.
func writeOrCompare(path string, written []byte, check bool) bool {
	if !check {
		if err := os.WriteFile(path, written, 0o644); err != nil {
			log.Fatalf("write %s: %v", path, err)
		}
		return true
	}
	current, err := os.ReadFile(path)
	if err != nil {
		log.Fatalf("read %s: %v", path, err)
	}
	differences := compareLines(current, written, 20)
	for _, line := range differences {
		fmt.Println(line)
	}
	return len(differences) == 0
}

// compareLines lists up to limit lines that only one of the two contains: "-" is the existing, "+" the generated file.
func compareLines(was, would []byte, limit int) []string {
	if bytes.Equal(was, would) {
		return nil
	}
	count := map[string]int{}
	for _, line := range bytes.Split(was, []byte("\n")) {
		count[string(line)]++
	}
	var found []string
	for _, line := range bytes.Split(would, []byte("\n")) {
		if count[string(line)] == 0 {
			found = append(found, "+ "+string(line))
			continue
		}
		count[string(line)]--
	}
	for _, line := range bytes.Split(was, []byte("\n")) {
		if count[string(line)] > 0 {
			found = append(found, "- "+string(line))
			count[string(line)]--
		}
	}
	if len(found) == 0 {
		return []string{"the same lines in another order"}
	}
	if len(found) > limit {
		found = append(found[:limit], fmt.Sprintf("and %d more", len(found)-limit))
	}
	return found
}
