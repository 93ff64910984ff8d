package main

import (
	"encoding/json"
	"fmt"
	"log"
	"reflect"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kubernetes/pkg/generated/openapi"
)

// Type is one struct with its fields in the order of the Go declaration.
type Type struct {
	Fields   []Field
	Required []string
	MapType  string
}

// Field is the information from a struct field's tags, its Go type and its OpenAPI definition.
type Field struct {
	Name string `json:"-"`
	// "[]X", "{}X" (map with string keys), the name of a scalar (see scalars) or of a type.
	Type string `json:"type"`
	// Protobuf field number, and those of the embedded structs that contain it, outermost first.
	Protobuf   int  `json:"protobuf,omitempty"`
	ProtobufIn path `json:"protobufIn,omitempty"`
	// Name of that struct, which decode errors print in the path.
	In string `json:"in,omitempty"`
	// How Go prints the type if it has its own name (v1.Protocol), for decode errors.
	GoType string `json:"goType,omitempty"`
	// Go's name of the field, if it is not the capitalized one of JSON, for errors of protobuf.
	GoName string `json:"goName,omitempty"`
	// How Go's encoder treats a zero value: "omit" (dropped even if it was given), "write" (printed even if it was not given); ""
	// for pointers, which are printed if they are set.
	Zero string `json:"zero,omitempty"`
	// The zero value is null although the type is not a list or map: a pointer that is always printed.
	Pointer       bool     `json:"pointer,omitempty"`
	PatchStrategy string   `json:"patchStrategy,omitempty"`
	PatchMergeKey string   `json:"patchMergeKey,omitempty"`
	ListType      string   `json:"listType,omitempty"`
	ListMapKeys   []string `json:"listMapKeys,omitempty"`
	MapType       string   `json:"mapType,omitempty"`
	Enum          []any    `json:"enum,omitempty"`
	Default       any      `json:"default,omitempty"`
}

// path is printed as a number if it has only one element.
type path []int

func (p path) MarshalJSON() ([]byte, error) {
	if len(p) == 1 {
		return json.Marshal(p[0])
	}
	return json.Marshal([]int(p))
}

// Go types with their own marshalling, and the name of their JSON form.
var scalars = map[reflect.Type]string{
	reflect.TypeFor[metav1.Time]():                                  "time",
	reflect.TypeFor[metav1.MicroTime]():                             "microTime",
	reflect.TypeFor[metav1.Duration]():                              "duration",
	reflect.TypeFor[resource.Quantity]():                            "quantity",
	reflect.TypeFor[intstr.IntOrString]():                           "intOrString",
	reflect.TypeFor[runtime.RawExtension]():                         "rawExtension",
	reflect.TypeFor[metav1.FieldsV1]():                              "fieldsV1",
	reflect.TypeFor[apiextensionsv1.JSON]():                         "json",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrBool]():        "jsonSchemaPropsOrBool",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrArray]():       "jsonSchemaPropsOrArray",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrStringArray](): "jsonSchemaPropsOrStringArray",
}

var definitions = openapi.GetOpenAPIDefinitions(func(path string) spec.Ref { return spec.MustCreateRef(path) })

func modelName(goType reflect.Type) string {
	named, ok := reflect.New(goType).Interface().(interface{ OpenAPIModelName() string })
	if !ok {
		log.Fatalf("%s has no OpenAPI name", goType)
	}
	return named.OpenAPIModelName()
}

type typeTable map[string]*Type

func describeTypes(kinds kindSet) typeTable {
	table := typeTable{}
	for _, kind := range kinds.sorted() {
		table.add(kinds[kind])
	}
	table.add(reflect.TypeFor[version.Info]()) // no kind, and yet an answer
	return table
}

func (table typeTable) add(goType reflect.Type) string {
	name := modelName(goType)
	if _, known := table[name]; known {
		return name
	}
	described := &Type{}
	table[name] = described
	definition, ok := definitions[name]
	if !ok {
		log.Printf("no OpenAPI definition of %s", name)
	}
	described.MapType = extension(definition.Schema, "x-kubernetes-map-type")
	described.Required = definition.Schema.Required
	table.addFields(described, goType, definition, nil, "")
	return name
}

func (table typeTable) addFields(described *Type, goType reflect.Type, definition common.OpenAPIDefinition, in path, inName string) {
	for i := range goType.NumField() {
		field := goType.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || !field.IsExported() {
			continue
		}
		if name == "" && field.Anonymous {
			embedded := field.Type
			if embedded.Kind() == reflect.Pointer {
				log.Fatalf("%s embeds a pointer", goType)
			}
			name := field.Name
			if name == "TypeMeta" {
				name = "" // a value of a wrong type there has another error
			} else if inName != "" {
				name = inName + "." + name
			}
			table.addFields(described, embedded, definition, append(append(path{}, in...), protobufNumber(field)), name)
			continue
		}
		fact := Field{Name: name, Protobuf: protobufNumber(field), ProtobufIn: in, In: inName, PatchStrategy: field.Tag.Get("patchStrategy"), PatchMergeKey: field.Tag.Get("patchMergeKey")}
		if len(in) > 0 && in[len(in)-1] == 0 {
			fact.Protobuf, fact.ProtobufIn = 0, nil // TypeMeta: not in the object's message
		}
		fact.Type = table.typeOf(field.Type, goType.String()+"."+field.Name)
		fact.GoType = printedGoType(field.Type, fact.Type)
		if fact.Protobuf > 0 && field.Name != strings.ToUpper(name[:1])+name[1:] {
			fact.GoName = field.Name
		}
		fact.Zero, fact.Pointer = zeroRule(field.Type, options)
		if property, ok := definition.Schema.Properties[name]; ok {
			fact.fromOpenAPI(property)
		} else if len(definition.Schema.Properties) > 0 {
			log.Printf("%s.%s is not in OpenAPI", goType, name)
		}
		described.Fields = append(described.Fields, fact)
	}
}

func (fact *Field) fromOpenAPI(property spec.Schema) {
	fact.ListType = extension(property, "x-kubernetes-list-type")
	fact.MapType = extension(property, "x-kubernetes-map-type")
	fact.Enum = property.Enum
	if property.Items != nil && property.Items.Schema != nil {
		fact.Enum = append(fact.Enum, property.Items.Schema.Enum...)
	}
	if property.AdditionalProperties != nil && property.AdditionalProperties.Schema != nil {
		fact.Enum = append(fact.Enum, property.AdditionalProperties.Schema.Enum...)
	}
	if keys, ok := property.Extensions["x-kubernetes-list-map-keys"].([]interface{}); ok {
		for _, key := range keys {
			fact.ListMapKeys = append(fact.ListMapKeys, key.(string))
		}
	}
}

func extension(of spec.Schema, name string) string {
	value, _ := of.Extensions[name].(string)
	return value
}

func protobufNumber(field reflect.StructField) int {
	parts := strings.Split(field.Tag.Get("protobuf"), ",")
	if len(parts) < 2 {
		return 0
	}
	number, err := strconv.Atoi(parts[1])
	if err != nil {
		log.Fatalf("protobuf tag of %s: %v", field.Name, err)
	}
	return number
}

// zeroRule is encoding/json's treatment of zero values, by type and tag.
func zeroRule(goType reflect.Type, options string) (zero string, pointer bool) {
	omitEmpty, omitZero := false, false
	for _, option := range strings.Split(options, ",") {
		omitEmpty = omitEmpty || option == "omitempty"
		omitZero = omitZero || option == "omitzero"
	}
	switch goType.Kind() {
	case reflect.Pointer, reflect.Interface:
		if omitEmpty || omitZero {
			return "", false
		}
		return "write", true
	case reflect.Struct:
		if omitZero {
			return "omit", false
		}
		return "write", false // omitempty says nothing to a struct
	default:
		if omitEmpty || omitZero {
			return "omit", false
		}
		return "write", false
	}
}

func (table typeTable) typeOf(goType reflect.Type, where string) string {
	if word, ok := scalars[goType]; ok {
		return word
	}
	switch goType.Kind() {
	case reflect.Pointer:
		return table.typeOf(goType.Elem(), where)
	case reflect.Slice:
		if goType.Elem().Kind() == reflect.Uint8 {
			return "byte"
		}
		return "[]" + table.typeOf(goType.Elem(), where)
	case reflect.Map:
		return "{}" + table.typeOf(goType.Elem(), where)
	case reflect.Struct:
		return table.add(goType)
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int32:
		return "int32"
	case reflect.Int64, reflect.Int:
		return "int64"
	case reflect.Float64:
		return "double"
	case reflect.Interface:
		return "json"
	}
	log.Fatal(fmt.Sprintf("%s: no word for %s", where, goType))
	return ""
}

// printedGoType is empty if the name is sufficient.
func printedGoType(goType reflect.Type, word string) string {
	for goType.Kind() == reflect.Pointer {
		goType = goType.Elem()
	}
	printed := goType.String()
	if printed == derivedGoType(word) {
		return ""
	}
	return printed
}

// derivedGoType is the Go type that the reader of the facts derives from a name (goTypeOf in ../decode/errors.ts).
func derivedGoType(word string) string {
	switch {
	case strings.HasPrefix(word, "[]"):
		return "[]" + derivedGoType(word[2:])
	case strings.HasPrefix(word, "{}"):
		return "map[string]" + derivedGoType(word[2:])
	case word == "boolean":
		return "bool"
	case word == "double":
		return "float64"
	case word == "byte":
		return "[]uint8"
	case word == "quantity":
		return "resource.Quantity"
	case word == "time":
		return "v1.Time"
	case word == "microTime":
		return "v1.MicroTime"
	case word == "intOrString":
		return "intstr.IntOrString"
	case word == "rawExtension":
		return "runtime.RawExtension"
	case word == "fieldsV1":
		return "v1.FieldsV1"
	case strings.HasPrefix(word, "json"):
		return "v1.JSON" + strings.TrimPrefix(strings.TrimPrefix(word, "json"), "Schema")
	}
	parts := strings.Split(word, ".")
	if len(parts) < 2 {
		return word
	}
	return strings.Join(parts[len(parts)-2:], ".")
}
