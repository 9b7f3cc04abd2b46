# https://github.com/kubernetes-sigs/karpenter/issues/3249

@karpenter @issue-3249
Feature: Karpenter reads devices with the rights that its documents name

  Background:
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 5s later
    And the target has the environment variables:
      | IGNORE_DRA_REQUESTS | false |

  # Of resource.k8s.io the design document has slices only.
  @karpenter-3249-device-rights
  Scenario: Slices may be read, as the design document has it
    Given these objects:
      """
      apiVersion: rbac.authorization.k8s.io/v1
      kind: ClusterRole
      metadata: {name: karpenter-devices}
      rules: [{apiGroups: [resource.k8s.io], resources: [resourceslices], verbs: [get, list, watch]}]
      ---
      apiVersion: rbac.authorization.k8s.io/v1
      kind: ClusterRoleBinding
      metadata: {name: karpenter-devices}
      roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: karpenter-devices}
      subjects: [{kind: ServiceAccount, name: karpenter, namespace: karpenter}]
      """
    And Karpenter with a NodePool "default"
    When the scenario waits for 5m
    And a pod "web" that requests 3 CPU is created
    Then the pod "web" is Running within 2m

  @karpenter-3249-claims-too
  Scenario: Claims and classes may be read, too
    Given these objects:
      """
      apiVersion: rbac.authorization.k8s.io/v1
      kind: ClusterRole
      metadata: {name: karpenter-devices}
      rules: [{apiGroups: [resource.k8s.io], resources: [resourceclaims, resourceslices, deviceclasses], verbs: [get, list, watch]}]
      ---
      apiVersion: rbac.authorization.k8s.io/v1
      kind: ClusterRoleBinding
      metadata: {name: karpenter-devices}
      roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: karpenter-devices}
      subjects: [{kind: ServiceAccount, name: karpenter, namespace: karpenter}]
      """
    And Karpenter with a NodePool "default"
    When the scenario waits for 5m
    And a pod "web" that requests 3 CPU is created
    Then the pod "web" is Running within 2m
