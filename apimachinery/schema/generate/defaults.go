package main

import (
	"encoding/json"
	"fmt"
	"log"
	"reflect"
	"sort"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// How a probe object is filled around the tested field, which always has its zero value. A default that is the same for all three
// fillings does not depend on other fields.
type filling int

const (
	sparse filling = iota // only what leads to the type that has the field
	hollow                // every struct, list and map is there, every scalar is zero
	full                  // every scalar has a value too
	fillings
)

type fieldKey struct {
	goType reflect.Type
	field  string // JSON name
}

// observation is the result of one root kind's defaulting for a field: one text per filling, "" for no default.
type observation struct {
	root string
	made [fillings]string
}

type defaultTable map[fieldKey][]observation

// probeDefaults runs the defaulting functions of every kind once per reachable field and filling.
func probeDefaults(kinds kindSet) defaultTable {
	table := defaultTable{}
	for _, kind := range kinds.sorted() {
		if strings.HasSuffix(kind.Kind, "List") || strings.HasSuffix(kind.Kind, "Options") || kind.Group == "meta.k8s.io" {
			continue
		}
		if _, ok := reflect.New(kinds[kind]).Interface().(runtime.Object); !ok {
			continue
		}
		reached := reachableTypes(kinds[kind])
		for _, goType := range reached.order {
			for i := range goType.NumField() {
				field := goType.Field(i)
				if isStructItself(field) {
					continue
				}
				seen := observation{root: printKind(kind)}
				for mode := range fillings {
					seen.made[mode] = probe(kinds[kind], goType, i, mode, reached)
				}
				if seen.made != [fillings]string{} {
					key := fieldKey{goType, jsonName(field)}
					table[key] = append(table[key], seen)
				}
			}
		}
		for _, goType := range reached.order {
			table.noteRoot(goType, printKind(kind))
		}
	}
	return table
}

// rootsOf counts the kinds that reach a type: a default must be observed in all of them.
var rootsOf = map[reflect.Type]map[string]bool{}

func (table defaultTable) noteRoot(goType reflect.Type, root string) {
	if rootsOf[goType] == nil {
		rootsOf[goType] = map[string]bool{}
	}
	rootsOf[goType][root] = true
}

func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

func isStructItself(field reflect.StructField) bool {
	_, scalar := scalars[field.Type]
	return !field.IsExported() || jsonName(field) == "-" || field.Anonymous || (field.Type.Kind() == reflect.Struct && !scalar)
}

type reachable struct {
	order []reflect.Type
	// The types that each type reaches, including itself.
	from map[reflect.Type]map[reflect.Type]bool
}

func reachableTypes(root reflect.Type) *reachable {
	found := &reachable{from: map[reflect.Type]map[reflect.Type]bool{}}
	found.visit(root, nil)
	return found
}

func (found *reachable) visit(goType reflect.Type, above []reflect.Type) {
	goType = bare(goType)
	if goType.Kind() != reflect.Struct {
		return
	}
	if _, scalar := scalars[goType]; scalar || goType == reflect.TypeFor[metav1.ObjectMeta]() {
		return
	}
	above = append(above, goType)
	known := found.from[goType] != nil
	if !known {
		found.from[goType] = map[reflect.Type]bool{}
		found.order = append(found.order, goType)
	}
	for _, one := range above {
		found.from[one][goType] = true
		if known {
			for below := range found.from[goType] {
				found.from[one][below] = true
			}
		}
	}
	if known {
		return
	}
	for i := range goType.NumField() {
		found.visit(goType.Field(i).Type, above)
	}
}

// bare returns the element type below pointers, lists and maps.
func bare(goType reflect.Type) reflect.Type {
	for {
		switch goType.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			goType = goType.Elem()
		default:
			return goType
		}
	}
}

type prober struct {
	target  reflect.Type
	field   int
	mode    filling
	reached *reachable
	found   []reflect.Value
}

func probe(root, target reflect.Type, field int, mode filling, reached *reachable) (made string) {
	object := reflect.New(root)
	filler := &prober{target: target, field: field, mode: mode, reached: reached}
	filler.fill(object.Elem(), nil)
	defer func() {
		if failure := recover(); failure != nil {
			made = "" // the defaulting function relies on what this filling does not have
		}
	}()
	scheme.Default(object.Interface().(runtime.Object))
	texts := map[string]bool{}
	for _, one := range filler.found {
		value := one.Field(field)
		if value.IsZero() {
			texts[""] = true
			continue
		}
		text, err := json.Marshal(value.Interface())
		if err != nil {
			log.Fatalf("print %s.%s: %v", target, target.Field(field).Name, err)
		}
		texts[string(text)] = true
	}
	list := make([]string, 0, len(texts))
	for text := range texts {
		list = append(list, text)
	}
	sort.Strings(list)
	return strings.Join(list, " or ")
}

func (filler *prober) fill(value reflect.Value, above []reflect.Type) {
	goType := value.Type()
	if fillScalar(value, filler.mode) {
		return
	}
	switch goType.Kind() {
	case reflect.Struct:
		filler.fillStruct(value, above)
	case reflect.Pointer:
		if filler.wants(goType.Elem(), above) {
			value.Set(reflect.New(goType.Elem()))
			filler.fill(value.Elem(), above)
		}
	case reflect.Slice:
		if goType.Elem().Kind() != reflect.Uint8 && filler.wants(goType.Elem(), above) {
			value.Set(reflect.MakeSlice(goType, 1, 1))
			filler.fill(value.Index(0), above)
		} else if goType.Elem().Kind() == reflect.Uint8 && filler.mode == full {
			value.SetBytes([]byte("x"))
		}
	case reflect.Map:
		if filler.wants(goType.Elem(), above) {
			// Map values are not addressable; no built-in default is below one.
			item := reflect.New(goType.Elem()).Elem()
			filler.fill(item, above)
			key := reflect.New(goType.Key()).Elem()
			key.SetString("x")
			value.Set(reflect.MakeMap(goType))
			value.SetMapIndex(key, item)
		}
	}
}

// wants returns whether the target of a pointer, or an item, is created. Recursive types are created once.
func (filler *prober) wants(goType reflect.Type, above []reflect.Type) bool {
	below := bare(goType)
	for _, one := range above {
		if one == below {
			return false
		}
	}
	_, scalar := scalars[below]
	if below.Kind() != reflect.Struct || scalar {
		return filler.mode == full
	}
	return filler.mode != sparse || filler.reached.from[below][filler.target]
}

func (filler *prober) fillStruct(value reflect.Value, above []reflect.Type) {
	goType := value.Type()
	above = append(above, goType)
	for i := range goType.NumField() {
		if !goType.Field(i).IsExported() || (goType == filler.target && i == filler.field) {
			continue
		}
		filler.fill(value.Field(i), above)
	}
	if goType == filler.target && value.CanAddr() {
		filler.found = append(filler.found, value)
	}
}

func fillScalar(value reflect.Value, mode filling) bool {
	if _, ok := scalars[value.Type()]; ok {
		if mode == full {
			switch pointer := value.Addr().Interface().(type) {
			case *metav1.Time:
				*pointer = metav1.Unix(1, 0)
			case *metav1.MicroTime:
				*pointer = metav1.NewMicroTime(time.Unix(1, 0))
			case *metav1.Duration:
				pointer.Duration = time.Second
			case *resource.Quantity:
				*pointer = resource.MustParse("1")
			case *intstr.IntOrString:
				*pointer = intstr.FromInt32(1)
			}
		}
		return true
	}
	if mode == full {
		switch value.Kind() {
		case reflect.String:
			value.SetString("x")
		case reflect.Bool:
			value.SetBool(true)
		case reflect.Int, reflect.Int32, reflect.Int64:
			value.SetInt(1)
		case reflect.Float64:
			value.SetFloat(1)
		}
	}
	return value.Kind() != reflect.Struct && value.Kind() != reflect.Pointer && value.Kind() != reflect.Slice && value.Kind() != reflect.Map
}

// unconditional returns the text on which all kinds and fillings agree.
func (table defaultTable) unconditional(key fieldKey) (string, bool) {
	seen := table[key]
	if len(seen) < len(rootsOf[key.goType]) {
		return "", false
	}
	text := seen[0].made[0]
	for _, one := range seen {
		for _, made := range one.made {
			if made != text || strings.Contains(made, " or ") {
				return "", false
			}
		}
	}
	return text, text != ""
}

// bringsOthers contains fields whose default sets another field as well, which is not set if the client specifies the value.
var bringsOthers = map[string]string{"io.k8s.api.apps.v1.StatefulSetUpdateStrategy": "type"}

func (table defaultTable) apply(types typeTable) {
	for key := range table {
		text, ok := table.unconditional(key)
		if !ok || bringsOthers[modelNameOrEmpty(key.goType)] == key.field {
			continue
		}
		described := types[modelNameOrEmpty(key.goType)]
		if described != nil {
			described.setDefault(key.field, text)
			continue
		}
		types.setInlined(key, text)
	}
}

func (described *Type) setDefault(field, text string) {
	for i := range described.Fields {
		if described.Fields[i].Name == field {
			described.Fields[i].setDefault(text)
		}
	}
}

// setDefault omits what would not be printed anyway, and the time of the probe.
func (fact *Field) setDefault(text string) {
	empty := text == "{}" || text == "[]" || text == "0" || text == "false" || text == `""`
	if fact.Type == "time" || (fact.Zero == "omit" && empty) {
		return
	}
	fact.Default = json.RawMessage(text)
}

// setInlined finds the types that embed a struct, which has no entry of its own.
func (types typeTable) setInlined(key fieldKey, text string) {
	for _, described := range types {
		for i := range described.Fields {
			if lastWord(described.Fields[i].In) == key.goType.Name() && described.Fields[i].Name == key.field {
				described.Fields[i].setDefault(text)
			}
		}
	}
}

func lastWord(path string) string {
	return path[strings.LastIndex(path, ".")+1:]
}

func modelNameOrEmpty(goType reflect.Type) string {
	if named, ok := reflect.New(goType).Interface().(interface{ OpenAPIModelName() string }); ok {
		return named.OpenAPIModelName()
	}
	return ""
}

func (table defaultTable) printConditional() {
	lines := map[string][]string{}
	for key, seen := range table {
		if _, ok := table.unconditional(key); ok {
			continue
		}
		for _, one := range seen {
			line := fmt.Sprintf("%s.%s: sparse %s, hollow %s, full %s", key.goType, key.field, shown(one.made[sparse]), shown(one.made[hollow]), shown(one.made[full]))
			lines[line] = append(lines[line], one.root)
		}
	}
	keys := make([]string, 0, len(lines))
	for line := range lines {
		keys = append(keys, line)
	}
	sort.Strings(keys)
	for _, line := range keys {
		sort.Strings(lines[line])
		fmt.Printf("%s  (%s)\n", line, strings.Join(lines[line], ", "))
	}
}

func shown(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
