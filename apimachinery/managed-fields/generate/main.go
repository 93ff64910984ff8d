// Writes sequences.jsonl: random applies and updates, and what structured-merge-diff, which kube-apiserver uses, makes of
// them. sequences.test.ts replays them. One line per sequence; the seed is fixed.
//
//	go run . > ../sequences.jsonl
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/merge"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

const schema = `types:
- name: root
  map:
    fields:
    - {name: text, type: {scalar: string}}
    - {name: number, type: {scalar: numeric}}
    - {name: flag, type: {scalar: boolean}}
    - {name: struct, type: {namedType: inner}}
    - name: atomicStruct
      type: {map: {fields: [{name: a, type: {scalar: string}}, {name: b, type: {scalar: string}}], elementRelationship: atomic}}
    - {name: map, type: {map: {elementType: {scalar: string}}}}
    - {name: atomicMap, type: {map: {elementType: {scalar: string}, elementRelationship: atomic}}}
    - {name: mapOfStructs, type: {map: {elementType: {namedType: inner}}}}
    - {name: set, type: {list: {elementType: {scalar: string}, elementRelationship: associative}}}
    - {name: numbers, type: {list: {elementType: {scalar: numeric}, elementRelationship: associative}}}
    - {name: list, type: {list: {elementType: {namedType: inner}, elementRelationship: atomic}}}
    - {name: items, type: {list: {elementType: {namedType: item}, elementRelationship: associative, keys: [name]}}}
    - {name: ports, type: {list: {elementType: {namedType: port}, elementRelationship: associative, keys: [port, protocol]}}}
    - {name: free, type: {namedType: __untyped_deduced_}}
- name: inner
  map:
    fields:
    - {name: a, type: {scalar: string}}
    - {name: b, type: {scalar: string}}
    - {name: set, type: {list: {elementType: {scalar: string}, elementRelationship: associative}}}
    - {name: map, type: {map: {elementType: {scalar: string}}}}
- name: item
  map:
    fields:
    - {name: name, type: {scalar: string}}
    - {name: value, type: {scalar: string}}
    - {name: struct, type: {namedType: inner}}
- name: port
  map:
    fields:
    - {name: port, type: {scalar: numeric}}
    - {name: protocol, type: {scalar: string}, default: TCP}
    - {name: name, type: {scalar: string}}
- name: __untyped_atomic_
  scalar: untyped
  list: {elementType: {namedType: __untyped_atomic_}, elementRelationship: atomic}
  map: {elementType: {namedType: __untyped_atomic_}, elementRelationship: atomic}
- name: __untyped_deduced_
  scalar: untyped
  list: {elementType: {namedType: __untyped_atomic_}, elementRelationship: atomic}
  map: {elementType: {namedType: __untyped_deduced_}, elementRelationship: separable}
`

const (
	version   = fieldpath.APIVersion("v1")
	sequences = 120
	steps     = 7
)

type object = map[string]interface{}

type converter struct{}

func (converter) Convert(v *typed.TypedValue, _ fieldpath.APIVersion) (*typed.TypedValue, error) {
	return v, nil
}
func (converter) IsMissingVersionError(error) bool { return false }

type step struct {
	Op       string                     `json:"op"`
	Manager  string                     `json:"manager"`
	Force    bool                       `json:"force,omitempty"`
	Object   object                     `json:"object"`
	Conflict []string                   `json:"conflict,omitempty"`
	Invalid  bool                       `json:"invalid,omitempty"`
	Live     interface{}                `json:"live,omitempty"`
	Managers map[string]json.RawMessage `json:"managers,omitempty"`
}

func main() {
	parser, err := typed.NewParser(typed.YAMLObject(schema))
	check(err)
	root := parser.Type("root")
	out := json.NewEncoder(os.Stdout)
	for i := 0; i < sequences; i++ {
		r := rand.New(rand.NewSource(int64(i)))
		var taken []step
		var live interface{} = object{}
		managers := fieldpath.ManagedFields{}
		for j := 0; j < steps; j++ {
			s := next(r, live)
			live, managers = run(root, &s, live, managers)
			s.Live = live
			s.Managers = map[string]json.RawMessage{}
			for name, set := range managers {
				text, err := set.Set().ToJSON()
				check(err)
				s.Managers[name] = text
			}
			taken = append(taken, s)
		}
		check(out.Encode(taken))
	}
}

// An error leaves all as it was.
func run(root typed.ParseableType, s *step, before interface{}, managers fieldpath.ManagedFields) (interface{}, fieldpath.ManagedFields) {
	updater := (&merge.UpdaterBuilder{Converter: converter{}}).BuildUpdater()
	live, err := root.FromUnstructured(before, typed.AllowDuplicates)
	check(err)
	if s.Op == "apply" {
		config, err := root.FromUnstructured(copyOf(s.Object))
		if err != nil {
			s.Invalid = true
			return before, managers
		}
		// As k8s.io/apimachinery's skipNonAppliedManager: what nobody manages was somebody's before.
		known := managers.Copy()
		if len(known) == 0 {
			empty, err := root.FromUnstructured(object{})
			check(err)
			_, known, err = updater.Update(empty, live, version, known, "before-first-apply")
			check(err)
		}
		result, after, err := updater.Apply(live, config, version, known, s.Manager, s.Force)
		if conflicts, ok := err.(merge.Conflicts); ok {
			conflicts.ToSet().Iterate(func(p fieldpath.Path) { s.Conflict = append(s.Conflict, p.String()) })
			return before, managers
		}
		check(err)
		if result == nil {
			return before, after
		}
		return copyOf(result.AsValue().Unstructured()), after
	}
	wanted, err := root.FromUnstructured(copyOf(s.Object), typed.AllowDuplicates)
	check(err)
	const self = "current-operation"
	_, after, err := updater.Update(live, wanted, version, managers.Copy(), self)
	check(err)
	if own, ok := after[self]; ok {
		delete(after, self)
		set := own.Set()
		if present, ok := after[s.Manager]; ok {
			set = set.Union(present.Set())
		}
		after[s.Manager] = fieldpath.NewVersionedSet(set, version, false)
	}
	return copyOf(s.Object), after
}

func next(r *rand.Rand, live interface{}) step {
	if r.Intn(5) < 3 {
		return step{Op: "apply", Manager: fmt.Sprintf("a%d", r.Intn(2)), Force: r.Intn(3) == 0, Object: some(r, 4, r.Intn(20) == 0)}
	}
	changed, _ := copyOf(live).(object)
	if changed == nil {
		changed = object{}
	}
	for name, v := range some(r, 3, r.Intn(8) == 0) {
		changed[name] = v
	}
	for name := range changed {
		if r.Intn(6) == 0 {
			delete(changed, name)
		}
	}
	return step{Op: "update", Manager: fmt.Sprintf("u%d", r.Intn(2)), Object: changed}
}

var fields = []string{"text", "number", "flag", "struct", "atomicStruct", "map", "atomicMap", "mapOfStructs", "set", "numbers", "list", "items", "ports", "free"}

func some(r *rand.Rand, most int, twice bool) object {
	o := object{}
	for n := r.Intn(most) + 1; n > 0; n-- {
		name := fields[r.Intn(len(fields))]
		o[name] = fieldValue(r, name, twice)
	}
	return o
}

func fieldValue(r *rand.Rand, name string, twice bool) interface{} {
	if r.Intn(25) == 0 {
		return nil
	}
	switch name {
	case "text":
		return text(r)
	case "number":
		return int64(r.Intn(3))
	case "flag":
		return r.Intn(2) == 0
	case "struct":
		return inner(r, twice)
	case "atomicStruct":
		return object{[]string{"a", "b"}[r.Intn(2)]: text(r)}
	case "map", "atomicMap":
		return texts(r)
	case "mapOfStructs":
		m := object{}
		for n := r.Intn(3); n > 0; n-- {
			m[text(r)] = inner(r, twice)
		}
		return m
	case "set":
		return distinct(r, twice, func() interface{} { return text(r) })
	case "numbers":
		return distinct(r, twice, func() interface{} { return int64(r.Intn(3) * 9) })
	case "list":
		l := []interface{}{}
		for n := r.Intn(3); n > 0; n-- {
			l = append(l, inner(r, twice))
		}
		return l
	case "items":
		return keyed(r, twice, func() object {
			o := object{"name": text(r)}
			if r.Intn(2) == 0 {
				o["value"] = text(r)
			}
			if r.Intn(2) == 0 {
				o["struct"] = inner(r, twice)
			}
			return o
		})
	case "ports":
		return keyed(r, twice, func() object {
			o := object{"port": int64(r.Intn(3) + 8)}
			if r.Intn(2) == 0 {
				o["protocol"] = []string{"TCP", "UDP"}[r.Intn(2)]
			}
			if r.Intn(2) == 0 {
				o["name"] = text(r)
			}
			return o
		})
	}
	return free(r, 3)
}

func text(r *rand.Rand) string { return []string{"a", "b", "c"}[r.Intn(3)] }

func texts(r *rand.Rand) object {
	m := object{}
	for n := r.Intn(3); n > 0; n-- {
		m[text(r)] = text(r)
	}
	return m
}

func inner(r *rand.Rand, twice bool) object {
	o := object{}
	if r.Intn(2) == 0 {
		o["a"] = text(r)
	}
	if r.Intn(3) == 0 {
		o["b"] = text(r)
	}
	if r.Intn(3) == 0 {
		o["set"] = distinct(r, twice, func() interface{} { return text(r) })
	}
	if r.Intn(3) == 0 {
		o["map"] = texts(r)
	}
	return o
}

func distinct(r *rand.Rand, twice bool, make func() interface{}) []interface{} {
	l, seen := []interface{}{}, map[interface{}]bool{}
	for n := r.Intn(4); n > 0; n-- {
		if v := make(); twice || !seen[v] {
			seen[v] = true
			l = append(l, v)
		}
	}
	return l
}

func keyed(r *rand.Rand, twice bool, make func() object) []interface{} {
	l, seen := []interface{}{}, map[string]bool{}
	for n := r.Intn(4); n > 0; n-- {
		o := make()
		protocol := o["protocol"]
		if protocol == nil {
			protocol = "TCP"
		}
		key := fmt.Sprint(o["port"], protocol)
		if o["port"] == nil {
			key = fmt.Sprint(o["name"])
		}
		if twice || !seen[key] {
			l = append(l, o)
		}
		seen[key] = true
	}
	return l
}

func free(r *rand.Rand, depth int) interface{} {
	switch n := r.Intn(5); {
	case n < 2 && depth > 0:
		m := object{}
		for n := r.Intn(3); n > 0; n-- {
			m[text(r)] = free(r, depth-1)
		}
		return m
	case n == 2:
		return []interface{}{text(r)}
	case n == 3:
		return int64(r.Intn(3))
	}
	return text(r)
}

// A copy with the numbers as the library wants them.
func copyOf(v interface{}) interface{} {
	text, err := json.Marshal(v)
	check(err)
	out, err := value.FromJSON(text)
	check(err)
	return out.Unstructured()
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
