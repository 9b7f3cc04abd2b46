# What came with https://github.com/kubernetes-sigs/karpenter/pull/169: what daemons ask for is
# taken from a pod of theirs, which has the defaults of its namespace.

@karpenter @issue-169
Feature: A machine has room for the daemons as they are now

  @karpenter-169-daemon-of-the-past
  Scenario: A DaemonSet asks for more while there is no machine
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
        disruption: {consolidateAfter: 30s}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-2x-amd64-linux, c-4x-amd64-linux]}
              - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      ---
      apiVersion: apps/v1
      kind: DaemonSet
      metadata: {name: logs}
      spec:
        selector: {matchLabels: {app: logs}}
        template:
          metadata: {labels: {app: logs}}
          spec: {containers: [{name: logs, image: logs, resources: {requests: {cpu: 250m}}}]}
      """
    When a pod "first" that requests 1 CPU is created
    Then the pod "first" is Running within 5m
    And this holds within 5m:
      """
      happens: {source: node, verb: running, resource: pods, name: {matches: "logs-.*"}}
      """
    # Karpenter looks at DaemonSets once a minute.
    When the scenario waits for 2m
    And "Pod/first" is deleted
    And "karpenter" has sent "delete" of "nodeclaims"
    And the scenario waits for 2m
    And "DaemonSet/logs" is patched with:
      """
      spec: {template: {spec: {containers: [{name: logs, image: logs, resources: {requests: {cpu: "1"}}}]}}}
      """
    And the scenario waits for 2m
    And a pod "web" that requests 1500m CPU is created
    Then the pod "web" is Running within 5m
    And this holds within 5m:
      """
      happens: {source: node, verb: running, resource: pods, name: {matches: "logs-.*"}}
      """
    And 5m from now, between 1 and 2 NodeClaims have been created since the start
