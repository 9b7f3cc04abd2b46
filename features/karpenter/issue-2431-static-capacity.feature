# What came with https://github.com/kubernetes-sigs/karpenter/pull/2431, first in v1.8.0: NodePools
# of a fixed size. They are behind the feature gate StaticCapacity.

@karpenter @issue-2431
Feature: A NodePool of a fixed size has that size again once nothing is wrong any more

  Background:
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 5s later
    And the target has the environment variables:
      | FEATURE_GATES | StaticCapacity=true |
    And Karpenter

  # An admission webhook that times out takes ten seconds by default, and thirty at most. Its pod keeps
  # the node until Karpenter asks for another one.
  @karpenter-2431-panic
  Scenario: The last NodeClaim goes while its successor is refused slowly
    Given these objects:
      """
      apiVersion: karpenter.kwok.sh/v1alpha1
      kind: KWOKNodeClass
      metadata: {name: default}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: static}
      spec:
        replicas: 1
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      ---
      apiVersion: policy/v1
      kind: PodDisruptionBudget
      metadata: {name: stays}
      spec: {minAvailable: 1, selector: {matchLabels: {app: a}}}
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: a, labels: {app: a}}
      spec: {containers: [{name: main, image: main, resources: {requests: {cpu: "1"}}}]}
      """
    And "node" has recorded "running" of "pods"
    When the scenario waits for 1m
    And every call "create nodeclaims.karpenter.sh" of the program "karpenter" is answered with 504 after 30s, for 5m
    And "NodeClaim/$name" is deleted once "karpenter" has ever sent "create" of "nodeclaims"
    And the scenario waits for 2m
    And "PodDisruptionBudget/stays" is deleted
    Then "karpenter" has sent "create" of "nodeclaims" within 15m

  @karpenter-2431-reservation
  Scenario: A node cannot be tainted for half a minute when all of them have drifted
    Given these objects:
      """
      apiVersion: karpenter.kwok.sh/v1alpha1
      kind: KWOKNodeClass
      metadata: {name: default}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: static}
      spec:
        replicas: 2
        limits: {nodes: "3"}
        disruption: {consolidateAfter: 0s, budgets: [{nodes: "100%"}]}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      """
    And "node" has recorded "ready" of "nodes" 3 times
    When the scenario waits for 1m
    And every call "update,patch nodes" of the program "karpenter" is answered with 500, for 30s
    And "NodePool/static" is patched with:
      """
      spec: {template: {metadata: {labels: {example.org/edited: "1"}}}}
      """
    And the scenario waits for 5m
    And "NodePool/static" is patched with:
      """
      spec: {replicas: 3}
      """
    Then "karpenter" has sent "create" of "nodeclaims" exactly 3 times within 5m
