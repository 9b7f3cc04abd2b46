# See https://github.com/aws/karpenter-provider-aws/issues/6544.

@karpenter @issue-6544
Feature: A NodePool that was written as v1beta1 outlives the releases that convert it

  Up to v1.0 a webhook of Karpenter's own has objects of v1beta1 be read as v1. The CRDs of v1.0 name its Service.

  Background:
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And the release v1.0.6 runs in place of the target until it is upgraded
    And Karpenter
    And these objects:
      """
      apiVersion: karpenter.kwok.sh/v1alpha1
      kind: KWOKNodeClass
      metadata: {name: default}
      """
    When these objects are applied:
      """
      apiVersion: karpenter.sh/v1beta1
      kind: NodePool
      metadata: {name: default}
      spec:
        disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 30m}
        template:
          spec:
            nodeClassRef: {apiVersion: karpenter.kwok.sh/v1alpha1, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      """
    And a pod "web" that requests 3 CPU is created
    Then the pod "web" is Running within 2m

  @karpenter-6544-webhook-left-behind
  Scenario: The CRDs are left behind, and the NodePool is applied again as it was
    When the target is upgraded, and its CRDs are left behind
    And the API server is asked to apply these objects:
      """
      apiVersion: karpenter.sh/v1beta1
      kind: NodePool
      metadata: {name: default}
      spec:
        limits: {cpu: "100"}
        disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 30m}
        template:
          spec:
            nodeClassRef: {apiVersion: karpenter.kwok.sh/v1alpha1, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      """
    Then this holds within 1m:
      """
      never: {source: api, resource: nodepools, actor: kubectl, code: 500}
      ever: true
      """

  @karpenter-6544-webhook-upgraded
  Scenario: The CRDs are upgraded, and the NodePool is applied as v1
    When the target is upgraded
    # What kubectl owned as v1beta1 fails an apply until another write has dropped that, such as the new leader's.
    And the scenario waits for 30s
    And the API server is asked to apply these objects:
      """
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: default}
      spec:
        limits: {cpu: "100"}
        disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 30m}
        template:
          spec:
            expireAfter: Never
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      """
    # The NodePool is another one now, and its machine is replaced. A pod that comes in that moment may get one more.
    And the scenario waits for 3m
    And a pod "later" that requests 3 CPU is created
    Then the pod "later" is Running within 2m
    And this holds within 1m:
      """
      never: {source: api, resource: nodepools, actor: kubectl, code: 500}
      ever: true
      """
