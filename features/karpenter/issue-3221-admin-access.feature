# https://github.com/kubernetes-sigs/karpenter/issues/3221

@karpenter @issue-3221
Feature: A device that is only watched is free for others

  Access for an administrator takes nothing from a device: any other claim may still have it.

  @karpenter-3221-admin-access
  Scenario: The only device is watched, and a pod claims it that finds no room
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 5s later
    And the target has the environment variables:
      | IGNORE_DRA_REQUESTS | false |
    # The rights that the chart for kwok lacks.
    And these objects:
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
    And these objects:
      """
      apiVersion: v1
      kind: Namespace
      metadata: {name: watchers, labels: {resource.kubernetes.io/admin-access: "true"}}
      ---
      apiVersion: resource.k8s.io/v1
      kind: DeviceClass
      metadata: {name: fabric}
      spec:
        selectors: [{cel: {expression: "device.driver == 'fabric.example.com'"}}]
      ---
      apiVersion: resource.k8s.io/v1
      kind: ResourceSlice
      metadata: {name: fabric}
      spec:
        driver: fabric.example.com
        allNodes: true
        pool: {name: fabric, generation: 1, resourceSliceCount: 1}
        devices: [{name: port-1}]
      ---
      apiVersion: resource.k8s.io/v1
      kind: ResourceClaim
      metadata: {name: watch, namespace: watchers}
      spec:
        devices:
          requests: [{name: port, exactly: {deviceClassName: fabric, adminAccess: true}}]
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: monitor, namespace: watchers}
      spec:
        tolerations: [{operator: Exists}]
        resourceClaims: [{name: port, resourceClaimName: watch}]
        containers: [{name: main, image: main, resources: {requests: {cpu: 100m}, claims: [{name: port}]}}]
      """
    And "node" has recorded "running" of "pods"
    When these objects are created:
      """
      apiVersion: resource.k8s.io/v1
      kind: ResourceClaim
      metadata: {name: port, namespace: default}
      spec:
        devices:
          requests: [{name: port, exactly: {deviceClassName: fabric}}]
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: train, namespace: default}
      spec:
        resourceClaims: [{name: port, resourceClaimName: port}]
        containers: [{name: main, image: main, resources: {requests: {cpu: 3}, claims: [{name: port}]}}]
      """
    Then the pod "train" is Running within 10m
