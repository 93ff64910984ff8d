"""What programs do with the Python client, step by step, against the cluster that KUBECONFIG names. Each step prints one line;
the lines are the same whatever serves the API."""

import threading

from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client.rest import ApiException

NAMESPACE = "python"


def say(step, what):
    print(f"{step}: {what}")


def main():
    config.load_kube_config()
    core, apps = client.CoreV1Api(), client.AppsV1Api()

    core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=NAMESPACE)))
    say("version", client.VersionApi().get_code().major)

    labels = {"app": "web"}
    made = apps.create_namespaced_deployment(NAMESPACE, client.V1Deployment(
        metadata=client.V1ObjectMeta(name="web"),
        spec=client.V1DeploymentSpec(
            replicas=0,
            selector=client.V1LabelSelector(match_labels=labels),
            template=client.V1PodTemplateSpec(
                metadata=client.V1ObjectMeta(labels=labels),
                spec=client.V1PodSpec(containers=[client.V1Container(name="main", image="nginx")])))))
    say("create", f"{made.spec.strategy.type} {made.spec.template.spec.dns_policy} {made.metadata.generation}")

    apps.patch_namespaced_deployment_scale("web", NAMESPACE, {"spec": {"replicas": 1}})
    say("scale", apps.read_namespaced_deployment_scale("web", NAMESPACE).spec.replicas)
    patched = apps.patch_namespaced_deployment("web", NAMESPACE, {"metadata": {"annotations": {"a": "b"}}})
    say("patch", patched.metadata.annotations.get("a"))

    utils.create_from_dict(client.ApiClient(), {
        "apiVersion": "v1", "kind": "List", "items": [
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"c{n}", "labels": {"made": "from-dict"}}}
            for n in range(5)]}, namespace=NAMESPACE)
    names, token = [], None
    while True:
        page = core.list_namespaced_config_map(NAMESPACE, label_selector="made=from-dict", limit=2, _continue=token)
        names.append([item.metadata.name for item in page.items])
        token = page.metadata._continue
        if not token:
            break
    say("pages", names)

    seen = []
    def change():
        core.create_namespaced_config_map(NAMESPACE, client.V1ConfigMap(metadata=client.V1ObjectMeta(name="watched")))
        core.patch_namespaced_config_map("watched", NAMESPACE, {"data": {"a": "b"}})
        core.delete_namespaced_config_map("watched", NAMESPACE)
    listed = core.list_namespaced_config_map(NAMESPACE)
    changing = threading.Thread(target=change)
    changing.start()
    for event in watch.Watch().stream(core.list_namespaced_config_map, NAMESPACE, field_selector="metadata.name=watched",
                                      resource_version=listed.metadata.resource_version, timeout_seconds=20):
        seen.append(event["type"])
        if event["type"] == "DELETED":
            break
    changing.join()
    say("watch", seen)

    for attempt in (lambda: core.read_namespaced_config_map("missing", NAMESPACE),
                    lambda: core.create_namespaced_config_map(NAMESPACE, {"metadata": {"name": "c0"}}),
                    lambda: core.create_namespaced_service(NAMESPACE, {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 0}]}})):
        try:
            attempt()
        except ApiException as error:
            say("error", f"{error.status} {error.reason} {error.body}")

    dynamic_client = dynamic.DynamicClient(client.ApiClient())
    ingresses = dynamic_client.resources.get(api_version="networking.k8s.io/v1", kind="Ingress")
    ingresses.create(namespace=NAMESPACE, body={
        "apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "front"},
        "spec": {"rules": [{"host": "example.com"}]}})
    applied = ingresses.server_side_apply(namespace=NAMESPACE, name="front", field_manager="python", body={
        "apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "front", "labels": {"by": "python"}}})
    say("dynamic", f"{ingresses.preferred} {applied.metadata.labels.by} {[m.manager for m in applied.metadata.managedFields][0]}")

    review = client.AuthorizationV1Api().create_self_subject_access_review(client.V1SelfSubjectAccessReview(
        spec=client.V1SelfSubjectAccessReviewSpec(resource_attributes=client.V1ResourceAttributes(verb="delete", resource="nodes"))))
    say("may I", review.status.allowed)

    core.delete_namespace(NAMESPACE)
    for event in watch.Watch().stream(core.list_namespace, field_selector=f"metadata.name={NAMESPACE}", timeout_seconds=60):
        if event["type"] == "DELETED":
            say("namespace", "deleted")
            return
    raise SystemExit("the namespace did not go")


main()
