// What random commands are made of (random-commands.ts): what is read, explained, compared and changed, with options that fit and others,
// mostly of objects with which a session begins (objects/random/).

/** <name>: one of these. */
export const words: Readonly<Record<string, readonly string[]>> = {
  scalable: ["deployment/d", "statefulset/s", "replicaset/r", "rc/c"],
  templated: ["deployment/d", "statefulset/s", "daemonset/ds", "cronjob/cj"],
  object: [
    ..."<scalable> <templated> <scalable> <templated> pod/p job/j service/v configmap/m secret/t ingress/i pdb/b hpa/h".split(
      " ",
    ),
    ..."pvc/l quota/q limitrange/lr serviceaccount/sa role/ro rolebinding/rb networkpolicy/np endpointslice/es".split(
      " ",
    ),
    ..."lease/le podtemplate/pt controllerrevision/cr configmap/absent deploy/d po/p cm/m".split(" "),
  ],
  kind: "deploy sts rs rc ds cj job po svc cm secret ing pdb hpa pvc quota limits sa roles rolebindings netpol".split(
    " ",
  ),
  file: ["all.yaml", "one.yaml", "changed.yaml", "bad.yaml"],
  dry: ["", "", "--dry-run=server", "--dry-run=server", "--dry-run=client"],
  name: ["n1", "n2", "Bad_Name", "m"],
  who: [
    "--as=jane",
    "--as=system:anonymous",
    "--as=system:kube-scheduler",
    "--as=jane --as-group=system:authenticated",
  ],
  o: ["", "", "-o name", "-o yaml", "-o json", "-o wide", "-o bogus", "-o %output"],
}

/** %name: one of these, whose brackets mean nothing here. */
export const literals: Readonly<Record<string, readonly string[]>> = {
  output: [
    "jsonpath={.metadata.name}",
    "jsonpath={.metadata.labels}",
    "jsonpath={.spec}",
    "custom-columns=N:.metadata.name,G:.metadata.generation,R:.spec.replicas",
    "go-template={{.metadata.name}}/{{.kind}}",
  ],
  patch: [
    '{"metadata":{"labels":{"x":"2"}}}',
    '{"metadata":{"labels":{"x":null}}}',
    '{"metadata":{"annotations":{"a":"b"},"finalizers":null}}',
    '{"metadata":{"name":"other"}}',
    '{"metadata":{"resourceVersion":"1"}}',
    '{"spec":{"replicas":2}}',
    '{"spec":{"replicas":"2"}}',
    '{"spec":{"paused":true,"bogus":1}}',
    '{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"new"}]}}}}',
    '{"spec":{"template":{"spec":{"containers":[{"name":"e","image":"new","env":[{"name":"A","value":"1"}]}]}}}}',
    '{"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"c"}],"containers":[{"name":"c","$patch":"delete"}]}}}}',
    '{"spec":{"selector":{"matchLabels":{"z":"z"}}}}',
    '{"spec":{"ports":[{"port":81,"name":"b"}]}}',
    '{"spec":{"ports":[{"port":80,"$patch":"delete"}]}}',
    '{"spec":{"type":"NodePort"}}',
    '{"spec":null}',
    '{"data":{"k":"v2"}}',
    '{"data":{"k":1}}',
    '{"data":null}',
    '{"immutable":true}',
    '{"rules":[]}',
    '{"subjects":null}',
    '{"status":{"replicas":3}}',
    '{"status":{"conditions":[{"type":"X","status":"True"}]}}',
    '{"kind":"Other"}',
    '{"apiVersion":"v2"}',
    ..."{} [] { null".split(" "),
  ],
  operations: [
    '[{"op":"add","path":"/metadata/labels/y","value":"1"}]',
    '[{"op":"remove","path":"/metadata/labels/x"}]',
    '[{"op":"test","path":"/metadata/name","value":"m"},{"op":"replace","path":"/data","value":{"z":"1"}}]',
    '[{"op":"replace","path":"/spec/replicas","value":4}]',
    '[{"op":"remove","path":"/spec/template/spec/containers/0"}]',
    '[{"op":"add","path":"/spec/ports/-","value":{"port":99,"name":"n"}}]',
    '[{"op":"copy","from":"/metadata/name","path":"/metadata/labels/n"}]',
    '[{"op":"bogus","path":"/"}]',
    "[]",
    "{}",
  ],
  overrides: ['{"spec":{"hostNetwork":true}}', '{"spec":{"bogus":1}}', "{"],
}

/** Of the editor. */
export const scripts: readonly string[] = [
  "s/image:.*/image: edited/",
  "s/replicas:.*/replicas: 3/",
  "s/replicas:.*/replicas: x/",
  's/x: "1"/x: "9"/',
  "s/name:.*/name: other/",
  "s/spec:/bogus:/",
  "s/^data:/datum:/",
  "s/port:.*/port: 99999/",
  "s/kind:.*/kind: Other/",
  "/resourceVersion/d",
  "/labels:/,+1d",
  "s/nothing/here/",
  "1,$d",
]

const reads = [
  "get (<object>|<kind>|<kind>,<kind>|all) <o> [--show-managed-fields] [--show-labels] [--show-kind]",
  "get (<object>|<kind>) [--server-print=false] [<who>]",
  "get <kind> --sort-by (.metadata.name|.spec.replicas|.bogus|{.metadata.labels.x})",
  "get <kind> -l (x=1|x!=1|x|!x|x=1,y=2|=)",
  "get <kind> --field-selector (metadata.name=d|status.phase=Running|type=Opaque|spec.bogus=1|metadata.name!=m)",
  "get --raw (/healthz?exclude=ping|/livez?verbose|/readyz?verbose&exclude=etcd&exclude=bogus|/bogus|/apis/bogus|/version/)",
  "describe (<object>|<kind>)",
  "events [--for <object>] [--types=Warning,Normal]",
  "rollout history (<templated>|pod/p|replicaset/r) [--revision (0|1|2)]",
  "rollout status (<templated>|pod/p) --timeout=1s",
  "wait <object> --for=(condition=Ready|delete|jsonpath={.spec.replicas}=2|create|condition=X=Unknown|bogus) --timeout=1s",
  "top (pods|nodes|pod p|pods --containers)",
  "logs (pod/p|deployment/d|pod/absent|service/v) [--all-containers] [-p] --pod-running-timeout=1s",
  "explain <kind>(|.spec|.status|.metadata|.spec.template.spec|.data|.bogus|.spec.rules) [--recursive] [--output=plaintext-openapiv2]",
  "explain <kind> --api-version=(v1|apps/v1|batch/v1|autoscaling/v1|bogus/v1)",
  "api-resources [--api-group=(apps|batch|bogus)] [-o (wide|name)] --sort-by=name [--namespaced=false] [--categories=all]",
]

const access = [
  "auth can-i (get|create|delete|*|bogus|use) (pods|pods/log|*|deployments.apps|nodes|bogus|configmaps/m|/healthz|/) [<who>] [-A] [-q]",
  "auth can-i --list [<who>]",
  "auth whoami [<who>] [-o (yaml|json)]",
  "auth reconcile -f rights.yaml <dry> [--remove-extra-permissions] [--remove-extra-subjects] <o>",
  "certificate (approve|deny) absent",
]

const changes = [
  "patch <object> [--type=(strategic|merge)] [--subresource=(status|scale|bogus)] [--field-manager=me] <dry> <o> -p %patch",
  "patch <object> [--type=(strategic|merge)] <dry> <o> -p %patch",
  "patch <object> --type=json <dry> <o> -p %operations",
  "label (<object>|<kind> --all|pods,cm -l x=1) (x=2|x-|y=1|bad_key/=1|y=a*b|z=) [--overwrite] [--list] [--field-manager=me] <dry>",
  "annotate (<object>|<kind> --all) (a=1|a-|k8s.io/b=2|/=1|kubernetes.io/change-cause=c) [--overwrite] <dry> <o>",
  "scale (<scalable>|job/j|pod/p|deployment/absent) --replicas=(0|1|3|-1|x) [--current-replicas=(0|1|2)] <dry> <o>",
  "autoscale (<scalable>|daemonset/ds|deployment/absent) --max=(0|1|3) [--min=(0|1|2)] [--cpu-percent=(0|50)] [--name=other] <dry> <o>",
  "rollout (pause|resume|restart|undo|undo --to-revision=1) (<templated>|replicaset/r) [--field-manager=me]",
  "expose (<scalable>|pod/p|service/v|ingress/i) --port=(80|0|99999|80,81) --name=(e1|e2|Bad|v) [--target-port=(http|8080|bad_port)] <dry> <o>",
  "expose <scalable> --port=80 --name=e3 --type=(NodePort|LoadBalancer|ExternalName|Bogus) [--cluster-ip=None] [--session-affinity=ClientIP]",
  "set image (<templated>|pod/p|job/j) (c=new|*=all|bogus=x|c=|c=bad*image) <dry> <o>",
  "set env <templated> (A=1|A-|BAD-NAME=1|1=2|--from=configmap/m|--from=secret/t --prefix=P_|--list|--list --resolve) [-c (c|absent)] <dry>",
  "set resources <templated> --limits=(cpu=1,memory=1Gi|bogus=1|cpu=x|example.com/x=1) [--requests=(cpu=2|ephemeral-storage=1Gi)] <dry>",
  "set selector service v (a=b|a=|=b) <dry> <o>",
  "set serviceaccount <templated> (sa|absent|Bad_Name) <dry>",
  "set subject (rolebinding|clusterrolebinding) rb (--user=u|--group=g|--serviceaccount=default:sa|--serviceaccount=bad) <dry>",
  "taint nodes (random-node|absent|-l none=none) (k=v:NoSchedule|k:NoExecute-|k-|k=v:Bogus|k=v2:NoSchedule --overwrite|bad/k/x=1:NoSchedule) <dry>",
  "(cordon|uncordon) (random-node|absent) <dry>",
  "drain (random-node|absent) --dry-run=server [--ignore-daemonsets] [--force]",
  "delete (<object>|<kind> -l x=1|-f one.yaml) [--dry-run=server] [--ignore-not-found] [--cascade=(orphan|foreground)] --wait=false",
  "delete <object> --grace-period=0 --force --timeout=2s",
]

const applies = [
  "apply -f <file> <dry> <o> [--validate=warn] [--field-manager=me]",
  "apply -f <file> --server-side [--force-conflicts] <dry> <o> [--field-manager=me]",
  "diff -f <file> [--server-side [--force-conflicts]] [--show-managed-fields]",
  "replace -f <file> <dry> [--force --grace-period=0]",
  "create -f <file> <dry> <o> [--save-config]",
  "apply view-last-applied <object>",
  "apply edit-last-applied <object>",
  "apply set-last-applied -f <file> [--create-annotation] <dry>",
  "edit <object> <o> [--save-config] [--validate=warn]",
  "edit <object>",
]

const creates = [
  "create configmap <name> (--from-literal=a=1|--from-file=one.yaml) <dry> <o>",
  "create secret generic <name> --from-literal=a=1 --type=(a/b|kubernetes.io/tls|Opaque) <dry> <o>",
  "create secret docker-registry <name> --docker-username=u --docker-password=p <dry> <o>",
  "create deployment <name> --image=i --replicas=(0|2|-1) --port=(80|0|70000) <dry> <o>",
  "create job <name> (--image=i -- true|--from=cronjob/cj)",
  "create cronjob <name> --image=i --schedule=(@hourly|bogus|*/5_*_*_*_*) -- true",
  "create namespace (random-extra|Bad_Name|default) --dry-run=server <o>",
  "create quota <name> --hard=(pods=1|pods=x|cpu=1,bogus.com/x=2|bogus=1) --scopes=(BestEffort|NotTerminating|Bogus) <dry> <o>",
  "create role <name> --verb=(get|bogus|get,list) --resource=(pods|bogus|deployments.apps/scale) --resource-name=a <dry> <o>",
  "create clusterrole random --verb=get --non-resource-url=(/a|a|/a/*) --dry-run=server <o>",
  "create rolebinding <name> --clusterrole=(view|absent) --user=u --serviceaccount=default:sa <dry> <o>",
  "create serviceaccount <name> <dry> <o>",
  "create token (sa|absent) --duration=(1s|10m|1000h) --audience=a",
  "create service clusterip <name> --tcp=80:(8080|http|x_y) <dry> <o>",
  "create service nodeport <name> --tcp=80 --node-port=(80|0) <dry> <o>",
  "create service externalname <name> --external-name=(example.com|Bad_|10.0.0.1) <dry> <o>",
  "create ingress <name> --rule=(a.com/*=v:80|bad_/x=v:http|*.com/=v:80,tls|a.com/x=v:99999) --class=(c|Bad_) <dry> <o>",
  "create pdb <name> --selector=a=b --min-available=(1|50%|x|-1|101%) <dry> <o>",
  "create priorityclass (random|Bad_Name) --value=(1|2000000000) --preemption-policy=(Never|Bogus) --dry-run=server <o>",
  "run (r1|r2|Bad_Name|p) --image=i [--labels=a=b] [--env=A=1] [--restart=(Never|OnFailure|Bogus)] [--port=80] [--privileged] <dry> <o>",
  "run (r3|r4) --image=i --port=80 --expose <dry>",
  "run (r5|r6) --image=i <dry> <o> --overrides=%overrides",
  "debug (p|absent|node/random-node) --image=i --attach=false --profile=(general|baseline|restricted|netadmin|sysadmin|legacy) [--target=c]",
  "debug p --image=i --attach=false --copy-to=copied [--container=dbg] --profile=(general|restricted)",
]

/** Of each list about as many commands are made. */
export const templates: readonly (readonly string[])[] = [
  reads,
  reads,
  access,
  changes,
  changes,
  applies,
  applies,
  creates,
]
