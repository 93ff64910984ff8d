package main

import (
	"bytes"
	"encoding/json"
	"log"
	"os"
	"sort"
)

// Facts is the content of the file: one line per type, kind, resource and bootstrap object, sorted, so that a diff shows what
// changed.
type Facts struct {
	Release    string
	Types      typeTable
	Kinds      map[string]string
	Selectable map[string][]string
	// From a running server.
	Resources []json.RawMessage
	Bootstrap []json.RawMessage
}

func readFacts(path string) (Facts, error) {
	var kept struct {
		Resources []json.RawMessage `json:"resources"`
		Bootstrap []json.RawMessage `json:"bootstrap"`
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return Facts{}, err
	}
	if err := json.Unmarshal(text, &kept); err != nil {
		return Facts{}, err
	}
	return Facts{Resources: kept.Resources, Bootstrap: kept.Bootstrap}, nil
}

func (facts Facts) encode() []byte {
	var out bytes.Buffer
	out.WriteString("{\"release\":" + compact(facts.Release) + ",\n\"types\":{\n")
	writeMap(&out, facts.Types)
	out.WriteString("},\n\"kinds\":{\n")
	writeMap(&out, facts.Kinds)
	out.WriteString("},\n\"selectable\":{\n")
	writeMap(&out, facts.Selectable)
	out.WriteString("},\n\"resources\":[\n")
	writeList(&out, facts.Resources)
	out.WriteString("],\n\"bootstrap\":[\n")
	writeList(&out, facts.Bootstrap)
	out.WriteString("]}\n")
	return out.Bytes()
}

// MarshalJSON keeps the fields in the order of their declaration.
func (described Type) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(`{"fields":{`)
	for i, field := range described.Fields {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(compact(field.Name) + ":" + compact(field))
	}
	out.WriteByte('}')
	if len(described.Required) > 0 {
		out.WriteString(`,"required":` + compact(described.Required))
	}
	if described.MapType != "" {
		out.WriteString(`,"mapType":` + compact(described.MapType))
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

func compact(value any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		log.Fatal(err)
	}
	return string(bytes.TrimSpace(out.Bytes()))
}

func writeMap[V any](out *bytes.Buffer, values map[string]V) {
	keys := make([]string, 0, len(values))
	for key := range values {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	for i, key := range keys {
		out.WriteString(compact(key) + ":" + compact(values[key]))
		if i < len(keys)-1 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
	}
}

func writeList(out *bytes.Buffer, values []json.RawMessage) {
	for i, value := range values {
		out.WriteString(compact(value))
		if i < len(values)-1 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
	}
}
