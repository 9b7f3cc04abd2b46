# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/2161, first in v1.14.0.

@karpenter @issue-2161
Feature: A machine has room for the daemons that come to it once it is initialized

  @karpenter-2161-daemon-of-initialized-nodes
  Scenario: A large DaemonSet wants initialized nodes only
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
      metadata: {name: agent}
      spec:
        selector: {matchLabels: {app: agent}}
        template:
          metadata: {labels: {app: agent}}
          spec:
            affinity:
              nodeAffinity:
                requiredDuringSchedulingIgnoredDuringExecution:
                  nodeSelectorTerms:
                    - matchExpressions: [{key: karpenter.sh/initialized, operator: In, values: ["true"]}]
            containers: [{name: agent, image: agent, resources: {requests: {cpu: 1}}}]
      """
    When a pod "web" that requests 1500m CPU is created
    Then the pod "web" is Running within 5m
    And this holds within 5m:
      """
      happens: {source: node, verb: running, resource: pods, name: {matches: "agent-.*"}}
      """
