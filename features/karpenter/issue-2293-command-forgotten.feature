# What came with https://github.com/kubernetes-sigs/karpenter/pull/2293, first in v1.6.0: a queue
# of the disruptions that wait for their replacements.

@karpenter @issue-2293
Feature: Machines that are consolidated together go, though one of them goes before its time

  @karpenter-2293-command-forgotten
  Scenario: The first of two machines is deleted while the one that replaces both is booting
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 2m after their launch and are Ready 5s later
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
        disruption: {consolidateAfter: Never, budgets: [{nodes: "100%"}]}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux, c-8x-amd64-linux]}
              - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      """
    When the scenario waits for 1m
    And these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: large-a}
      spec: {containers: [{name: main, image: main, resources: {requests: {cpu: "5"}}}]}
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: large-b}
      spec: {containers: [{name: main, image: main, resources: {requests: {cpu: "5"}}}]}
      """
    Then the pod "large-a" is Running within 10m
    And the pod "large-b" is Running within 10m
    When these objects are created:
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: small-a}
      spec:
        selector: {matchLabels: {app: small-a}}
        template:
          metadata: {labels: {app: small-a}}
          spec: {containers: [{name: main, image: main, resources: {requests: {cpu: 1600m}}}]}
      ---
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: small-b}
      spec:
        selector: {matchLabels: {app: small-b}}
        template:
          metadata:
            labels: {app: small-b}
            annotations: {controller.kubernetes.io/pod-deletion-cost: "100000000"}
          spec: {containers: [{name: main, image: main, resources: {requests: {cpu: 1600m}}}]}
      """
    And "node" has recorded "running" of "pods" 2 times
    And "Pod/large-a" is deleted
    And "Pod/large-b" is deleted
    And the scenario waits for 1m
    And "NodePool/default" is patched with:
      """
      spec: {disruption: {consolidateAfter: 30s}}
      """
    And "karpenter" has sent "create" of "nodeclaims"
    # The machine whose pod costs less to delete comes first in the command.
    And "Node/$detail.node" is deleted once this is recorded:
      """
      source: api
      verb: create
      resource: pods
      name: {matches: "small-a-.*"}
      detail: {subresource: binding}
      ever: true
      """
    Then this holds within 20m:
      """
      happens: {source: api, verb: create, resource: pods, actor: karpenter, code: 201, name: {matches: "small-b-.*"}, detail: {subresource: eviction}}
      """
