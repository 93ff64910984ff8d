package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"sort"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

type schemaGroupVersion = schema.GroupVersion

type serverFlags struct{ url, token, certificateAuthority string }

type server struct {
	flags  serverFlags
	client *http.Client
}

type subresource struct {
	Name    string   `json:"name"`
	Group   string   `json:"group"`
	Version string   `json:"version"`
	Kind    string   `json:"kind"`
	Verbs   []string `json:"verbs"`
}

type resourceFact struct {
	Group              string        `json:"group"`
	Version            string        `json:"version"`
	Resource           string        `json:"resource"`
	Singular           string        `json:"singular"`
	Kind               string        `json:"kind"`
	ListKind           string        `json:"listKind"`
	Namespaced         bool          `json:"namespaced"`
	ShortNames         []string      `json:"shortNames"`
	Categories         []string      `json:"categories"`
	Verbs              []string      `json:"verbs"`
	StorageVersionHash string        `json:"storageVersionHash,omitempty"`
	Subresources       []subresource `json:"subresources"`
}

type apiResource struct {
	Name, SingularName, Kind, Group, Version, StorageVersionHash string
	Namespaced                                                   bool
	Verbs, ShortNames, Categories                                []string
}

func (facts *Facts) askServer(flags serverFlags) error {
	asked, err := connect(flags)
	if err != nil {
		return err
	}
	resources, err := asked.resources()
	if err != nil {
		return err
	}
	facts.Resources = nil
	for _, resource := range resources {
		facts.Resources = append(facts.Resources, json.RawMessage(compact(resource)))
	}
	facts.Bootstrap, err = asked.bootstrap(resources)
	return err
}

func connect(flags serverFlags) (*server, error) {
	config := &tls.Config{InsecureSkipVerify: flags.certificateAuthority == ""}
	if flags.certificateAuthority != "" {
		text, err := os.ReadFile(flags.certificateAuthority)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s has no certificate", flags.certificateAuthority)
		}
	}
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{TLSClientConfig: config}}
	return &server{flags, client}, nil
}

func (asked *server) get(path string, into any) error {
	request, err := http.NewRequest(http.MethodGet, asked.flags.url+path, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+asked.flags.token)
	request.Header.Set("Accept", "application/json")
	response, err := asked.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, response.Status)
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	return decoder.Decode(into)
}

// resources lists the resources of our group versions in discovery order.
func (asked *server) resources() ([]resourceFact, error) {
	var groups struct {
		Groups []struct {
			Versions []struct{ GroupVersion string }
		}
	}
	if err := asked.get("/apis", &groups); err != nil {
		return nil, err
	}
	order := []string{"v1"}
	for _, group := range groups.Groups {
		for _, version := range group.Versions {
			order = append(order, version.GroupVersion)
		}
	}
	var facts []resourceFact
	for _, version := range groupVersions {
		if !slices.Contains(order, version.String()) {
			return nil, fmt.Errorf("%s is not served", version)
		}
	}
	for _, groupVersion := range order {
		found, err := asked.resourcesOf(groupVersion)
		if err != nil {
			return nil, err
		}
		facts = append(facts, found...)
	}
	return facts, nil
}

func pathOf(groupVersion string) string {
	if strings.Contains(groupVersion, "/") {
		return "/apis/" + groupVersion
	}
	return "/api/" + groupVersion
}

func (asked *server) resourcesOf(groupVersion string) ([]resourceFact, error) {
	position := slices.IndexFunc(groupVersions, func(version schemaGroupVersion) bool { return version.String() == groupVersion })
	if position < 0 {
		return nil, nil // beta or not ours
	}
	var list struct{ Resources []apiResource }
	if err := asked.get(pathOf(groupVersion), &list); err != nil {
		return nil, err
	}
	group, version := groupVersions[position].Group, groupVersions[position].Version
	var facts []resourceFact
	for _, found := range list.Resources {
		if strings.Contains(found.Name, "/") {
			continue
		}
		fact := resourceFact{Group: group, Version: version, Resource: found.Name, Singular: found.SingularName, Kind: found.Kind,
			Namespaced: found.Namespaced, Verbs: sorted(found.Verbs), ShortNames: sorted(found.ShortNames), Categories: sorted(found.Categories),
			StorageVersionHash: found.StorageVersionHash, Subresources: []subresource{}}
		if scheme.Recognizes(groupVersions[position].WithKind(found.Kind + "List")) {
			fact.ListKind = found.Kind + "List"
		}
		for _, below := range list.Resources {
			if name, is := strings.CutPrefix(below.Name, found.Name+"/"); is {
				sub := subresource{Name: name, Group: below.Group, Version: below.Version, Kind: below.Kind, Verbs: sorted(below.Verbs)}
				if sub.Version == "" {
					sub.Group, sub.Version = group, version
				}
				fact.Subresources = append(fact.Subresources, sub)
			}
		}
		facts = append(facts, fact)
	}
	return facts, nil
}

func sorted(values []string) []string {
	copied := append([]string{}, values...)
	sort.Strings(copied)
	return copied
}

// Properties of a fresh server that are specific to it: addresses, identities, times.
func belongsToThatServer(resource resourceFact, name string) bool {
	switch resource.Resource {
	case "events", "leases", "endpoints", "endpointslices", "componentstatuses", "ipaddresses", "servicecidrs", "secrets":
		return true
	case "services":
		return name == "kubernetes"
	case "configmaps":
		return name == "kube-root-ca.crt" || name == "extension-apiserver-authentication" || strings.HasPrefix(name, "kube-apiserver-")
	}
	return false
}

func (asked *server) bootstrap(resources []resourceFact) ([]json.RawMessage, error) {
	var objects []map[string]any
	for _, resource := range resources {
		if !slices.Contains(resource.Verbs, "list") || resource.Group == "autoscaling" {
			continue
		}
		version := schemaGroupVersion{Group: resource.Group, Version: resource.Version}.String()
		var list struct{ Items []map[string]any }
		if err := asked.get(pathOf(version)+"/"+resource.Resource, &list); err != nil {
			return nil, err
		}
		for _, object := range list.Items {
			metadata, _ := object["metadata"].(map[string]any)
			name, _ := metadata["name"].(string)
			if belongsToThatServer(resource, name) {
				continue
			}
			object["apiVersion"], object["kind"] = version, resource.Kind
			for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields"} {
				delete(metadata, field)
			}
			stripTimes(object)
			objects = append(objects, object)
		}
	}
	aggregateRoles(objects)
	var facts []json.RawMessage
	for _, object := range objects {
		facts = append(facts, json.RawMessage(compact(object)))
	}
	return facts, nil
}

// aggregateRoles does what a controller soon does to a fresh server: it fills in the rules of aggregated cluster roles.
func aggregateRoles(objects []map[string]any) {
	for changed := true; changed; {
		changed = false
		for _, role := range objects {
			aggregation, ok := role["aggregationRule"].(map[string]any)
			if !ok {
				continue
			}
			rules := []any{}
			for _, selector := range aggregation["clusterRoleSelectors"].([]any) {
				for _, other := range objects {
					if other["kind"] == "ClusterRole" && other["metadata"].(map[string]any)["name"] != role["metadata"].(map[string]any)["name"] && selects(selector.(map[string]any), other) {
						rules = appendNew(rules, other["rules"])
					}
				}
			}
			if compact(role["rules"]) != compact(rules) {
				role["rules"], changed = rules, true
			}
		}
	}
}

func selects(selector, object map[string]any) bool {
	labels, _ := object["metadata"].(map[string]any)["labels"].(map[string]any)
	wanted, ok := selector["matchLabels"].(map[string]any)
	for key, value := range wanted {
		ok = ok && labels[key] == value
	}
	return ok
}

func appendNew(rules []any, others any) []any {
	list, _ := others.([]any)
	for _, rule := range list {
		if !slices.ContainsFunc(rules, func(known any) bool { return compact(known) == compact(rule) }) {
			rules = append(rules, rule)
		}
	}
	return rules
}

func stripTimes(value any) {
	switch typed := value.(type) {
	case map[string]any:
		delete(typed, "lastTransitionTime")
		for _, inner := range typed {
			stripTimes(inner)
		}
	case []any:
		for _, inner := range typed {
			stripTimes(inner)
		}
	}
}
