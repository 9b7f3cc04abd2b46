# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/2767

@karpenter @issue-2767
Feature: Of two NodeOverlays that name a resource, the one with more weight says how much there is

  @karpenter-2767-overlay-weight
  Scenario: Four devices by the overlay of one instance type, one by that of all
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And the target has the environment variables:
      | FEATURE_GATES | NodeOverlay=true |
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
        disruption: {consolidateAfter: Never}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      ---
      apiVersion: karpenter.sh/v1alpha1
      kind: NodeOverlay
      metadata: {name: these-machines}
      spec:
        weight: 100
        requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}]
        capacity: {example.com/device: 4}
      ---
      apiVersion: karpenter.sh/v1alpha1
      kind: NodeOverlay
      metadata: {name: all-machines}
      spec:
        weight: 1
        requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
        capacity: {example.com/device: 1}
      """
    When the scenario waits for 1m
    And these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: web, namespace: default}
      spec: {containers: [{name: main, image: main, resources: {requests: {cpu: 1, example.com/device: 3}, limits: {example.com/device: 3}}}]}
      """
    Then "karpenter" has sent "create" of "nodeclaims" within 5m
    And the pod "web" is Running within 5m
