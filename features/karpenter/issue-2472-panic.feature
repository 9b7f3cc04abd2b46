# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/2472, first in v1.7.0.

@karpenter @issue-2472
Feature: One of two machines goes if the other one has room for all pods

  @karpenter-2472-panic
  Scenario: The NodePool wants a choice of instance types for each machine
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
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
        disruption: {consolidateAfter: 0s, budgets: [{nodes: "100%"}]}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, minValues: 2, values: [c-2x-amd64-linux, c-4x-amd64-linux, s-4x-amd64-linux]}
              - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      """
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: first}
      spec:
        containers: [{name: first, image: first, resources: {requests: {cpu: 2500m}}}]
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: second}
      spec:
        containers: [{name: second, image: second, resources: {requests: {cpu: 2500m}}}]
      """
    Then the pod "first" is Running within 5m
    And the pod "second" is Running within 5m
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: web}
      spec:
        containers: [{name: web, image: web, resources: {requests: {cpu: 800m}}}]
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: api}
      spec:
        containers: [{name: api, image: api, resources: {requests: {cpu: 800m}}}]
      """
    Then the pod "web" is Running within 5m
    And the pod "api" is Running within 5m
    When "Pod/first" is deleted
    And "Pod/second" is deleted
    Then "karpenter" has sent "delete" of "nodeclaims" within 5m
