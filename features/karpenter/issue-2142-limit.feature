# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/2142, first in v1.4.0.

@karpenter @issue-2142
Feature: A machine that was to be replaced and stays counts against its NodePool's limit

  Karpenter refuses a machine to a NodePool that has more than its limit. So a limit of one
  node lets there be two, and no third one.

  @karpenter-2142-limit
  Scenario: The replacement of a machine does not come, and is given up
    Given a cluster
    And a Ready node "system" for system pods only
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
        limits: {nodes: 1}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-2x-amd64-linux, c-8x-amd64-linux]}
              - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      """
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: large}
      spec:
        containers: [{name: large, image: large, resources: {requests: {cpu: 5}}}]
      ---
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: small}
      spec:
        selector: {matchLabels: {app: small}}
        template:
          metadata: {labels: {app: small}}
          spec:
            containers: [{name: small, image: small, resources: {requests: {cpu: 1}}}]
      """
    Then the pod "large" is Running within 5m
    And a pod of the Deployment "small" is Running within 5m
    When every call "create nodes" of the program "karpenter" is answered with 500, for 2m
    And "Pod/large" is deleted
    And "NodePool/default" is patched with once "karpenter" has sent "create" of "nodeclaims":
      """
      spec: {disruption: {consolidateAfter: Never}}
      """
    And a pod "second" that requests 7 CPU is created once "karpenter" has sent "delete" of "nodeclaims"
    Then the pod "second" is Running within 5m
    When a pod "third" that requests 7 CPU is created
    Then "karpenter" has sent "create" of "nodeclaims" at no time within 2m
