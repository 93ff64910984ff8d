// Which functions of upstream's suite are run, and which are not, for what reason. Together they are all of them.

/**
 * Each list runs in upstream's order on one server, as upstream runs them all: what a function leaves behind, the next may find.
 * Lists that take long come first. runTests alone is what is checked between the functions.
 */
export const chosen: readonly (readonly string[])[] = [
  ["run_kubectl_apply_tests"],
  ["run_pod_tests", "run_kubectl_run_tests", "run_pod_templates_tests"],
  ["run_kubectl_apply_deployments_tests", "run_deployment_tests", "run_lists_tests"],
  ["run_crd_tests", "run_crd_deletion_recreation_tests", "run_deprecated_api_tests"],
  ["run_clusterroles_tests", "run_role_tests"],
  ["run_kubectl_server_side_apply_tests", "run_kubectl_diff_tests", "run_kubectl_diff_same_names"],
  ["run_kubectl_get_tests", "run_retrieve_multiple_tests", "run_resource_aliasing_tests", "run_kubectl_sort_by_tests"],
  ["run_wait_tests", "run_kubectl_scale_tests"],
  ["run_rc_tests", "run_rs_tests"],
  ["run_service_tests", "run_kubectl_all_namespace_tests"],
  ["run_secrets_test", "run_configmap_tests", "run_service_accounts_tests"],
  ["run_create_secret_tests", "run_kubectl_create_kustomization_directory_tests"],
  ["run_daemonset_tests", "run_daemonset_history_tests", "run_stateful_set_tests", "run_statefulset_history_tests"],
  ["run_kubectl_events_tests", "run_job_tests", "run_create_job_tests"],
  ["runTests"],
  ["run_kubectl_delete_allnamespaces_tests", "run_kubectl_delete_interactive_tests", "run_namespace_tests"],
  ["run_persistent_volumes_tests", "run_persistent_volume_claims_tests", "run_storage_class_tests"],
  ["run_nodes_tests", "run_cluster_management_tests"],
  ["run_exec_credentials_tests", "run_exec_credentials_interactive_tests", "run_kubectl_auth_whoami_tests"],
  ["run_client_config_tests", "run_authorization_tests", "run_certificates_tests", "run_impersonation_tests"],
  ["run_RESTMapper_evaluation_tests", "run_assert_short_name_tests", "run_assert_singular_name_tests"],
  ["run_ambiguous_shortname_tests", "run_assert_categories_tests", "run_kubectl_explain_tests"],
  ["run_explain_crd_with_additional_properties_tests", "run_template_output_tests"],
  ["run_kubectl_create_error_tests", "run_kubectl_create_filter_tests", "run_kubectl_create_validate_tests"],
  ["run_kubectl_local_proxy_tests", "run_kubectl_exec_pod_tests", "run_kubectl_exec_resource_name_tests"],
  ["run_kubectl_request_timeout_tests", "run_kubectl_debug_tests", "run_kubectl_debug_node_tests"],
  ["run_kubectl_version_tests", "run_kubectl_results_tests", "run_swagger_tests"],
]

const ofKubectl = "it is kubectl's own: no server has a say in it"
const profile = "how a profile changes a pod is kubectl's own: the server sees what run_kubectl_debug_tests shows it"
const withoutAccounts =
  "it replaces pods without what the admission plugin ServiceAccount gave them, which upstream's server is started without"

export const leftOut: Readonly<Record<string, string>> = {
  run_save_config_tests: withoutAccounts,
  run_recursive_resources_tests: withoutAccounts,
  run_multi_resources_tests: "it reads a manifest from raw.githubusercontent.com",
  run_convert_tests: "it needs kubectl-convert, which asks no server",
  run_plugins_tests: "its plugins are no executables in a Go module",
  run_kubectl_help_tests: ofKubectl,
  run_kuberc_tests: ofKubectl,
  run_kubectl_config_set_tests: ofKubectl,
  run_kubectl_config_set_cluster_tests: ofKubectl,
  run_kubectl_config_set_credentials_tests: ofKubectl,
  run_kubectl_debug_legacy_tests: profile,
  run_kubectl_debug_baseline_tests: profile,
  run_kubectl_debug_restricted_tests: profile,
  run_kubectl_debug_netadmin_tests: profile,
  run_kubectl_debug_custom_profile_tests: profile,
  run_kubectl_debug_warning_tests: profile,
  run_kubectl_debug_legacy_node_tests: profile,
  run_kubectl_debug_baseline_node_tests: profile,
  run_kubectl_debug_restricted_node_tests: profile,
  run_kubectl_debug_netadmin_node_tests: profile,
}
