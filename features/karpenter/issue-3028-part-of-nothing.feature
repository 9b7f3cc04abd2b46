# What came with https://github.com/kubernetes-sigs/karpenter/pull/3028, first in v1.14.0: CapacityBuffers.
# They are behind the feature gate of that name.

@karpenter @issue-3028
Feature: A buffer is a part of the workload that it is for

  @karpenter-3028-part-of-nothing
  Scenario: The workload is scaled to zero, and the buffer has a limit
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 5s later
    And the target has the environment variables:
      | FEATURE_GATES | CapacityBuffer=true |
    And Karpenter
    And these objects:
      """
      apiVersion: karpenter.kwok.sh/v1alpha1
      kind: KWOKNodeClass
      metadata: {name: default}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: default}
      spec:
        disruption: {consolidateAfter: 30s}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      ---
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 2
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec: {containers: [{name: main, image: main, resources: {requests: {cpu: "1"}}}]}
      ---
      apiVersion: autoscaling.x-k8s.io/v1beta1
      kind: CapacityBuffer
      metadata: {name: spare}
      spec:
        scalableRef: {apiGroup: apps, kind: Deployment, name: web}
        percentage: 50
        limits: {cpu: "12"}
      """
    And "node" has recorded "running" of "pods" 2 times
    When the scenario waits for 2m
    And "Deployment/web" is scaled to 0
    Then "karpenter" never sends "create" of "nodeclaims" within 10m
