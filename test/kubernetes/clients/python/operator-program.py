"""An operator made with kopf, and what a person does with its objects, against the cluster that KUBECONFIG names: its webhooks,
which it registers itself, its finalizer, what it missed while it was away, its events. Each step prints one line; the lines
are the same whatever serves the API. CERTIFICATE, KEY and AUTHORITY are files: what its webhooks are served with."""

import asyncio
import json
import os
import threading
import time

import kopf
from kubernetes import client, config
from kubernetes.client.rest import ApiException

NAMESPACE, GROUP = "operator", "operator.example.com"
KIND = (GROUP, "v1", "widgets")
WEBHOOKS = "auto.operator.example.com"
PATIENCE_SECONDS = 60


def say(step, what):
    print(f"{step}: {what}", flush=True)


@kopf.on.startup()
def configure(settings, **_):
    files = {file: os.environ[name] for file, name in
             (("certfile", "CERTIFICATE"), ("pkeyfile", "KEY"), ("cafile", "AUTHORITY"))}
    settings.admission.server = kopf.WebhookServer(addr="127.0.0.1", host="127.0.0.1", **files)
    settings.admission.managed = WEBHOOKS
    settings.persistence.finalizer = f"{GROUP}/operator"


@kopf.on.mutate(*KIND)
def fill_in(spec, patch, **_):
    if "color" not in spec:
        patch.spec["color"] = "blue"


@kopf.on.validate(*KIND)
def judge(spec, warnings, **_):
    if spec["size"] > 50:
        warnings.append("that is much")
    if spec["size"] > 100:
        raise kopf.AdmissionError("too large", code=422)


@kopf.on.create(*KIND)
def made(body, spec, patch, **_):
    patch.status["size"] = spec["size"]
    kopf.info(body, reason="Made", message=f"of size {spec['size']}")
    return {"from": spec["color"]}


@kopf.on.update(*KIND, field="spec.size")
def resized(old, new, patch, **_):
    patch.status["size"] = new
    return {"from": old}


@kopf.on.delete(*KIND)
def unmade(name, namespace, **_):
    client.CoreV1Api().create_namespaced_config_map(namespace, {"metadata": {"name": f"after-{name}"}})


class Operator:
    """Runs while the block does."""

    def __enter__(self):
        self._ready, self._stop = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(kopf.operator(
            standalone=True, namespaces=[NAMESPACE],
            ready_flag=self._ready, stop_flag=self._stop)))
        self._thread.start()
        if not self._ready.wait(PATIENCE_SECONDS):
            raise SystemExit("the operator did not start")

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()


def until(what, done):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        found = done()
        if found:
            return found
        time.sleep(0.1)
    raise SystemExit(f"waited in vain for {what}")


def missing(read):
    try:
        read()
        return False
    except ApiException as error:
        return error.status == 404


def definition():
    open_object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    spec = {"type": "object", "required": ["size"], "properties": {"size": {"type": "integer"}, "color": {"type": "string"}}}
    schema = {"type": "object", "properties": {"spec": spec, "status": open_object}}
    version = {"name": "v1", "served": True, "storage": True, "subresources": {"status": {}},
               "schema": {"openAPIV3Schema": schema}}
    return {"metadata": {"name": f"widgets.{GROUP}"},
            "spec": {"group": GROUP, "scope": "Namespaced", "versions": [version],
                     "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"}}}


def main():
    config.load_kube_config()
    core, definitions = client.CoreV1Api(), client.ApiextensionsV1Api()
    widgets, admission = client.CustomObjectsApi(), client.AdmissionregistrationV1Api()
    place = (GROUP, "v1", NAMESPACE, "widgets")

    def widget(name, size):
        return {"apiVersion": f"{GROUP}/v1", "kind": "Widget", "metadata": {"name": name}, "spec": {"size": size}}

    def get(name):
        return widgets.get_namespaced_custom_object(*place, name)

    def status(name):
        return get(name).get("status") or {}

    def is_established():
        conditions = definitions.read_custom_resource_definition(f"widgets.{GROUP}").status.conditions or []
        return any(c.type == "Established" and c.status == "True" for c in conditions)

    def is_judged():
        try:
            widgets.create_namespaced_custom_object(*place, widget("tried", 101), dry_run="All")
            return False
        except ApiException as error:
            return error.status == 422

    def is_filled_in():
        try:
            tried = widgets.create_namespaced_custom_object(*place, widget("tried", 1), dry_run="All")
            return tried["spec"].get("color") == "blue"
        except ApiException as error:
            if error.status != 500:
                raise

    core.create_namespace({"metadata": {"name": NAMESPACE}})
    definitions.create_custom_resource_definition(definition())
    until("the definition", is_established)

    with Operator():
        until("the validating webhook", is_judged)
        until("the mutating webhook", is_filled_in)
        widgets.create_namespaced_custom_object(*place, widget("a", 5))
        until("the operator's status", lambda: status("a").get("size") == 5)
        a = get("a")
        say("created", json.dumps([a["spec"], a["status"], a["metadata"]["finalizers"], a["metadata"]["generation"]],
                                  sort_keys=True))
        try:
            widgets.create_namespaced_custom_object(*place, widget("b", 500))
        except ApiException as error:
            say("refused", f"{error.status} {error.reason} {error.body}")
        widgets.patch_namespaced_custom_object(*place, "a", {"spec": {"size": 7}})
        until("the new size", lambda: status("a").get("size") == 7)
        say("resized", status("a")["resized/spec.size"])
        events = until("an event", lambda: core.list_namespaced_event(
            NAMESPACE, field_selector="involvedObject.name=a,reason=Made").items)
        say("event", f"{events[0].type} {events[0].message} {events[0].involved_object.kind}")

    # Away: its webhooks must go with it, or nobody could write.
    for remove in (admission.delete_mutating_webhook_configuration, admission.delete_validating_webhook_configuration):
        remove(WEBHOOKS)
    def is_written():
        try:
            return widgets.patch_namespaced_custom_object(*place, "a", {"spec": {"size": 9}})
        except ApiException as error:
            if error.status != 500:
                raise
    until("a write without the operator", is_written)
    say("away", status("a")["size"])

    with Operator():
        until("what was missed", lambda: status("a").get("size") == 9)
        say("back", status("a")["resized/spec.size"])
        widgets.delete_namespaced_custom_object(*place, "a")
        until("the finalizer's end", lambda: missing(lambda: get("a")))
        say("deleted", core.read_namespaced_config_map("after-a", NAMESPACE).metadata.name)

    for remove in (admission.delete_mutating_webhook_configuration, admission.delete_validating_webhook_configuration):
        remove(WEBHOOKS)
    definitions.delete_custom_resource_definition(f"widgets.{GROUP}")
    core.delete_namespace(NAMESPACE)
    until("the namespace's end", lambda: missing(lambda: core.read_namespace(NAMESPACE)))
    say("namespace", "deleted")


main()
