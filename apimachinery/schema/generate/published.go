package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Published is ../openapi/facts.json: additional facts for OpenAPI documents besides the types. One line per entry.
type Published struct {
	// By type and field: a default that the field's Go type does not have; null if the type has one and the field does not.
	Defaults map[string]map[string]any
	Unions   map[string]any
	// By type: fields that are published only as a reference to their type. Version 3 wraps references that have siblings.
	Bare map[string][]string
	// From a running server: the group versions that include the options of requests, and the names of version 2's shared
	// parameters: "ListOptions.limit", "path.namespace", "body.DeleteOptions" → the suffix after "limit-".
	OptionVersions []string
	Parameters     map[string]string
	// "ListOptions.limit" → positions of line breaks in the description of a parameter; the descriptions are not stored here, and
	// their source lacks the line breaks.
	LineEnds map[string][]int
}

func describePublished(types typeTable) Published {
	published := Published{Defaults: map[string]map[string]any{}, Unions: map[string]any{}, Bare: map[string][]string{}, LineEnds: lineEnds()}
	for name, described := range types {
		definition := definitions[name].Schema
		if unions, ok := definition.Extensions["x-kubernetes-unions"]; ok {
			published.Unions[name] = unions
		}
		for _, field := range described.Fields {
			property, ok := definition.Properties[field.Name]
			if ok && property.Ref.String() != "" && property.Description == "" && property.Default == nil && len(property.Extensions) == 0 {
				published.Bare[name] = append(published.Bare[name], field.Name)
			}
			if !ok || compact(property.Default) == compact(field.zeroDefault(types)) {
				continue
			}
			if published.Defaults[name] == nil {
				published.Defaults[name] = map[string]any{}
			}
			published.Defaults[name][field.Name] = property.Default
		}
	}
	return published
}

// zeroDefault is the default that the reader of the facts assumes for a field that Go always prints (zeroDefault in
// ../openapi/schemas.ts).
func (field Field) zeroDefault(types typeTable) any {
	if field.Zero != "write" || field.Pointer {
		return nil
	}
	switch field.Type {
	case "string":
		return ""
	case "int32", "int64", "double":
		return 0
	case "boolean":
		return false
	}
	if _, isStruct := types[field.Type]; isStruct {
		return map[string]any{}
	}
	return nil
}

func readPublished(path string) (Published, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Published{}, err
	}
	var kept struct {
		OptionVersions []string          `json:"optionVersions"`
		Parameters     map[string]string `json:"parameters"`
	}
	err = json.Unmarshal(text, &kept)
	return Published{OptionVersions: kept.OptionVersions, Parameters: kept.Parameters}, err
}

func (published Published) encode() []byte {
	var out bytes.Buffer
	out.WriteString("{\"defaults\":{\n")
	writeMap(&out, published.Defaults)
	out.WriteString("},\n\"unions\":{\n")
	writeMap(&out, published.Unions)
	out.WriteString("},\n\"bare\":{\n")
	writeMap(&out, published.Bare)
	out.WriteString("},\n\"optionVersions\":" + compact(published.OptionVersions) + ",\n\"parameters\":{\n")
	writeMap(&out, published.Parameters)
	out.WriteString("},\n\"lineEnds\":{\n")
	writeMap(&out, published.LineEnds)
	out.WriteString("}}\n")
	return out.Bytes()
}

// Options of requests whose fields are parameters.
var optionTypes = []any{
	metav1.GetOptions{}, metav1.ListOptions{}, metav1.CreateOptions{}, metav1.UpdateOptions{}, metav1.PatchOptions{}, metav1.DeleteOptions{},
	corev1.PodLogOptions{}, corev1.PodExecOptions{}, corev1.PodAttachOptions{}, corev1.PodPortForwardOptions{},
	corev1.PodProxyOptions{}, corev1.ServiceProxyOptions{}, corev1.NodeProxyOptions{},
}

func lineEnds() map[string][]int {
	ends := map[string][]int{}
	for _, options := range optionTypes {
		documented, ok := options.(interface{ SwaggerDoc() map[string]string })
		if !ok {
			continue
		}
		for field, words := range documented.SwaggerDoc() {
			key := reflect.TypeOf(options).Name() + "." + field
			for position, letter := range []rune(words) {
				if field != "" && letter == '\n' {
					ends[key] = append(ends[key], position)
				}
			}
		}
	}
	return ends
}

func (published *Published) askServer(flags serverFlags) error {
	asked, err := connect(flags)
	if err != nil {
		return err
	}
	var document struct {
		Parameters  map[string]spec.Parameter
		Definitions map[string]struct {
			Kinds []metav1.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
		}
	}
	if err := asked.get("/openapi/v2", &document); err != nil {
		return err
	}
	published.OptionVersions = nil
	for _, kind := range document.Definitions[modelName(reflect.TypeFor[metav1.DeleteOptions]())].Kinds {
		published.OptionVersions = append(published.OptionVersions, metav1.GroupVersion{Group: kind.Group, Version: kind.Version}.String())
	}
	published.Parameters = map[string]string{}
	for id, parameter := range document.Parameters {
		suffix, ok := strings.CutPrefix(id, parameter.Name+"-")
		if !ok {
			return fmt.Errorf("a shared parameter of OpenAPI is called %s", id)
		}
		for _, key := range keysOf(parameter) {
			if other, known := published.Parameters[key]; known && other != suffix {
				return fmt.Errorf("%s is called %s and %s", key, other, suffix)
			}
			published.Parameters[key] = suffix
		}
	}
	return nil
}

// keysOf finds the options to which a parameter belongs by its description, which is unique.
func keysOf(parameter spec.Parameter) []string {
	if parameter.In == "body" {
		name := parameter.Schema.Ref.String()
		return []string{"body." + name[strings.LastIndex(name, ".")+1:]}
	}
	var keys []string
	for _, options := range optionTypes {
		documented, ok := options.(interface{ SwaggerDoc() map[string]string })
		if ok && parameter.In == "query" && documented.SwaggerDoc()[parameter.Name] == parameter.Description {
			keys = append(keys, reflect.TypeOf(options).Name()+"."+parameter.Name)
		}
	}
	if len(keys) == 0 {
		keys = []string{parameter.In + "." + parameter.Name}
	}
	slices.Sort(keys)
	return keys
}
