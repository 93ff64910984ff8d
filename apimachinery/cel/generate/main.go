// Evaluates expressions with cel-go, configured as in Kubernetes: see README.md.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

type In struct {
	Expr string         `json:"expr"`
	Vars map[string]any `json:"vars"`
}
type Out struct {
	Expr    string         `json:"expr"`
	Vars    map[string]any `json:"vars,omitempty"`
	Compile string         `json:"compile,omitempty"`
	Type    string         `json:"type,omitempty"`
	Value   any            `json:"value,omitempty"`
	Error   string         `json:"error,omitempty"`
	Cost    uint64         `json:"cost"`
	Min     uint64         `json:"min"`
	Max     string         `json:"max"`
}

func show(v ref.Val) string {
	switch t := v.(type) {
	case types.String:
		b, _ := json.Marshal(string(t))
		return string(b)
	case types.Uint:
		return fmt.Sprintf("%du", uint64(t))
	case types.Double:
		s := fmt.Sprintf("double:%v", float64(t))
		return s
	case types.Timestamp:
		return "timestamp:" + t.Time.UTC().Format("2006-01-02T15:04:05.999999999Z07:00")
	case types.Duration:
		return "duration:" + t.Duration.String()
	case types.Bytes:
		return fmt.Sprintf("bytes:%x", []byte(t))
	case *types.Optional:
		if t.HasValue() {
			return "optional(" + show(t.GetValue()) + ")"
		}
		return "optional.none"
	case *types.Type:
		return "type:" + t.TypeName()
	}
	switch v.Type().TypeName() {
	case "list":
		l := v.(interface {
			Size() ref.Val
			Get(ref.Val) ref.Val
		})
		s := "["
		n := int(l.Size().(types.Int))
		for i := 0; i < n; i++ {
			if i > 0 {
				s += ", "
			}
			s += show(l.Get(types.Int(i)))
		}
		return s + "]"
	}
	if m, ok := v.(mapper); ok && v.Type() == types.MapType {
		var parts []string
		it := m.Iterator()
		for it.HasNext() == types.True {
			k := it.Next()
			parts = append(parts, show(k)+": "+show(m.Get(k)))
		}
		sort.Strings(parts)
		s := "{"
		for i, p := range parts {
			if i > 0 {
				s += ", "
			}
			s += p
		}
		return s + "}"
	}
	if v.Type() == types.NullType {
		return "null"
	}
	if v.Type() == types.IntType || v.Type() == types.BoolType {
		return fmt.Sprintf("%v", v.Value())
	}
	return v.Type().TypeName() + ":" + fmt.Sprintf("%v", v.Value())
}

type mapper interface {
	Iterator() traits.Iterator
	Get(ref.Val) ref.Val
}

func main() {
	base := environment.MustBaseEnvSet(version.MajorMinor(1, 36))
	set, err := base.Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions: []cel.EnvOption{
			cel.Variable("v", cel.DynType),
			cel.Variable("s", cel.StringType),
			cel.Variable("n", cel.IntType),
			cel.Variable("u", cel.UintType),
			cel.Variable("d", cel.DoubleType),
			cel.Variable("b", cel.BoolType),
			cel.Variable("ls", cel.ListType(cel.StringType)),
			cel.Variable("li", cel.ListType(cel.IntType)),
			cel.Variable("ms", cel.MapType(cel.StringType, cel.StringType)),
			cel.Variable("mi", cel.MapType(cel.StringType, cel.IntType)),
			cel.Variable("lm", cel.ListType(cel.MapType(cel.StringType, cel.StringType))),
		},
	})
	if err != nil {
		panic(err)
	}
	env := set.NewExpressionsEnv()
	if len(os.Args) > 1 && os.Args[1] == "declarations" {
		dump(env)
		return
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), 1<<24)
	enc := json.NewEncoder(os.Stdout)
	enc.SetEscapeHTML(false)
	for in.Scan() {
		var q In
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			panic(err)
		}
		enc.Encode(run(env, q))
	}
}

func run(env *cel.Env, q In) (out Out) {
	out = Out{Expr: q.Expr, Vars: q.Vars}
	ast, iss := env.Compile(q.Expr)
	if iss != nil && iss.Err() != nil {
		out.Compile = iss.String()
		return
	}
	out.Type = ast.OutputType().String()
	est, err := env.EstimateCost(ast, &library.CostEstimator{SizeEstimator: nosize{}})
	if err != nil {
		panic(err)
	}
	out.Min = est.Min
	out.Max = fmt.Sprint(est.Max)
	prog, err := env.Program(ast)
	if err != nil {
		out.Error = "program: " + err.Error()
		return
	}
	vars := map[string]any{"v": nil, "s": "", "n": int64(0), "u": uint64(0), "d": 0.0, "b": false, "ls": []string{}, "li": []int64{}, "ms": map[string]string{}, "mi": map[string]int64{}, "lm": []any{}}
	for k, x := range q.Vars {
		vars[k] = fix(x)
	}
	val, det, err := prog.Eval(vars)
	if det != nil && det.ActualCost() != nil {
		out.Cost = *det.ActualCost()
	}
	if err != nil {
		out.Error = err.Error()
		return
	}
	out.Value = show(val)
	return
}

func fix(x any) any {
	switch t := x.(type) {
	case float64:
		if t == float64(int64(t)) {
			return int64(t)
		}
	case []any:
		for i := range t {
			t[i] = fix(t[i])
		}
	case map[string]any:
		for k := range t {
			t[k] = fix(t[k])
		}
	}
	return x
}

type nosize struct{}

func (nosize) EstimateSize(e checker.AstNode) *checker.SizeEstimate { return nil }
func (nosize) EstimateCallCost(f, o string, t *checker.AstNode, a []checker.AstNode) *checker.CallEstimate {
	return nil
}

// dump writes ../declarations.json. jsonpatch.escapeKey is only in the library of mutating policies, so it is added separately.
func dump(env *cel.Env) {
	short := strings.NewReplacer("google.protobuf.Duration", "duration", "google.protobuf.Timestamp", "timestamp")
	unused := map[string]bool{"__not_strictly_false__": true, "_in_": true, "in": true}
	all := map[string]map[string]string{
		"jsonpatch.escapeKey": {"string_jsonpatch_escapeKey_string": "(string) -> string"},
	}
	for name, f := range env.Functions() {
		if unused[name] {
			continue
		}
		all[name] = map[string]string{}
		for _, o := range f.OverloadDecls() {
			target, args := "", []string{}
			for i, a := range o.ArgTypes() {
				if i == 0 && o.IsMemberFunction() {
					target = a.String() + "."
				} else {
					args = append(args, a.String())
				}
			}
			all[name][o.ID()] = short.Replace(target + "(" + strings.Join(args, ", ") + ") -> " + o.ResultType().String())
		}
	}
	b := &bytes.Buffer{}
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	enc.Encode(all)
	os.Stdout.Write(b.Bytes())
}
